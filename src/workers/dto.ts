import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Field } from '../http/openapi/problem.dto.js';
import { exampleId } from '../http/openapi/responses.js';

const exampleToken = 'AZqhsnw9fk-KW2x9jp8KG8D4mZ5k8kYJjW0yqC2nT5E';

@ApiSchema({ name: 'Worker', description: 'The worker that claims.' })
export class WorkerDto {
  @Field(
    'The id that the worker gives itself. It is unique within its key, and always the same for one worker.',
    'gpu-1',
    { maxLength: 200 },
  )
  id!: string;
  @ApiPropertyOptional({
    description: 'The name of the worker, for people; its id if omitted.',
    maxLength: 200,
    example: 'gpu-1',
  })
  name?: string;
  @ApiPropertyOptional({ description: 'The version of its program.', maxLength: 200, example: '1.4.0' })
  version?: string;
  @ApiPropertyOptional({
    description: 'Other facts about the worker, for people: at most 32 texts of 200 characters.',
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { gpu: 'A100' },
  })
  labels?: Record<string, string>;
}

@ApiSchema({ name: 'ClaimedModel', description: 'A model that the worker runs.' })
export class ClaimedModelDto {
  @Field('The id of the model. Its runner has the kind `worker`.', 'me/image/upscale')
  model_id!: string;
  @ApiPropertyOptional({
    description:
      'The maximum number of its runs in this answer. If omitted, only the `max` of the claim applies.',
    type: 'integer',
    minimum: 1,
    maximum: 100,
    example: 1,
  })
  max?: number;
}

@ApiSchema({ name: 'Claim', description: 'A claim of runs.' })
export class ClaimDto {
  @Field('A new id for each claim. A repeated claim with the same id gets the same runs.', 'c-7f3a', {
    maxLength: 200,
  })
  claim_id!: string;
  @ApiProperty({ description: 'The worker that claims.', type: WorkerDto })
  worker!: WorkerDto;
  @ApiProperty({ description: 'The models that the worker runs, at least one.', type: [ClaimedModelDto] })
  models!: ClaimedModelDto[];
  @ApiPropertyOptional({
    description: 'The maximum number of runs in this answer; 1 if omitted.',
    type: 'integer',
    minimum: 1,
    maximum: 100,
    example: 1,
  })
  max?: number;
}

@ApiSchema({ name: 'WorkerRun', description: 'A run that a worker has claimed.' })
export class WorkerRunDto {
  @Field('The request of the run.', exampleId, { format: 'uuid' })
  request_id!: string;
  @Field('The attempt of the request, counted from 1.', 1, { type: 'integer', minimum: 1 })
  attempt!: number;
  @Field('The model.', 'me/image/upscale')
  model_id!: string;
  @Field('The token that every call about the run sends in the header `Lease-Token`.', exampleToken)
  lease_token!: string;
  @Field(
    'The number of seconds after which the run goes to another worker, unless a beat or a call for the run ' +
      'comes first.',
    10,
  )
  lease_s!: number;
  @Field('The time at which the run ends in any case.', '2026-03-01T12:10:00.000Z', { format: 'date-time' })
  deadline_at!: string;
  @ApiPropertyOptional({
    description: 'The input of the request; absent if there is an `input_url`.',
    type: 'object',
    additionalProperties: true,
    example: { prompt: 'a spiral' },
  })
  input?: Record<string, unknown>;
  @ApiPropertyOptional({
    description: 'The URL of an input that is too large for this answer. Fetch it with the `Lease-Token`.',
    type: String,
    example: `http://127.0.0.1:3000/v1/worker/runs/${exampleId}/input`,
  })
  input_url?: string;
  @ApiPropertyOptional({
    description: 'The trace that the run belongs to, as in W3C Trace Context.',
    type: String,
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  })
  traceparent?: string;
  @ApiPropertyOptional({ description: 'The `tracestate` of the trace.', type: String, example: 'vendor=1' })
  tracestate?: string;
}

@ApiSchema({ name: 'ClaimedRuns', description: 'The result of a claim.' })
export class ClaimedRunsDto {
  @ApiProperty({ description: 'The runs, in the order of the queue.', type: [WorkerRunDto] })
  runs!: WorkerRunDto[];
}

@ApiSchema({ name: 'Beat', description: 'A sign of life of a worker, with its runs.' })
export class BeatDto {
  @Field('The `id` of the worker.', 'gpu-1', { maxLength: 200 })
  worker_id!: string;
  @ApiPropertyOptional({
    description: 'The state of the worker, for people.',
    maxLength: 32,
    example: 'ready',
  })
  state?: string;
  @ApiProperty({
    description: 'The lease tokens of its runs, at most 1,000.',
    type: [String],
    example: [exampleToken],
  })
  leases!: string[];
}

@ApiSchema({ name: 'BeatAnswer', description: 'The answer to a beat.' })
export class BeatAnswerDto {
  @Field('The number of seconds that a lease lasts from a beat on.', 30)
  lease_s!: number;
  @Field('The number of seconds until the next beat is expected.', 10)
  beat_s!: number;
  @Field('The order of an operator. `run`: go on. `drain`: claim nothing more. `stop`: end.', 'run', {
    enum: ['run', 'drain', 'stop'],
  })
  worker!: 'run' | 'drain' | 'stop';
  @ApiProperty({ description: 'The requests whose runs must stop.', type: [String], example: [exampleId] })
  cancel!: string[];
  @ApiProperty({
    description: 'The requests whose leases the worker no longer has. Its calls for them are refused.',
    type: [String],
    example: [],
  })
  lost!: string[];
}

@ApiSchema({ name: 'EventsTaken', description: 'The number of events that are written.' })
export class EventsTakenDto {
  @Field('The number of the next event.', 3, { type: 'integer', minimum: 0 })
  next!: number;
  @Field('Whether the run must stop.', false)
  cancel!: boolean;
}

@ApiSchema({ name: 'WorkerFailure', description: 'The failure of a run.' })
export class WorkerFailureDto {
  @ApiPropertyOptional({
    description: 'The message that is shown to the caller.',
    maxLength: 8_192,
    example: 'out of memory',
  })
  message?: string;
  @ApiPropertyOptional({
    description: 'Whether another attempt may succeed; false if omitted.',
    example: true,
  })
  retryable?: boolean;
  @ApiPropertyOptional({
    description: 'The minimum number of seconds until the next attempt.',
    type: 'number',
    minimum: 0,
    maximum: 3_600,
    example: 5,
  })
  retry_after_s?: number;
  @ApiPropertyOptional({
    description: 'The status that the caller gets in place of 502, if the input is refused for good.',
    type: 'integer',
    minimum: 400,
    maximum: 499,
    example: 422,
  })
  status?: number;
  @ApiPropertyOptional({
    description: 'Details of the failure, as any JSON value of at most 64 KiB.',
    allOf: [{ $ref: '#/components/schemas/JsonValue' }],
    example: { reason: 'the prompt is empty' },
  })
  details?: unknown;
}
