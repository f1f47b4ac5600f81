import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Field } from '../http/openapi/problem.dto.js';
import { exampleId } from '../http/openapi/responses.js';

const exampleToken = 'AZqhsnw9fk-KW2x9jp8KG8D4mZ5k8kYJjW0yqC2nT5E';

@ApiSchema({ name: 'Worker', description: 'Who claims.' })
export class WorkerDto {
  @Field('What it calls itself under its key, always the same for one worker.', 'gpu-1', { maxLength: 200 })
  id!: string;
  @ApiPropertyOptional({ description: 'For people; its id if left out.', maxLength: 200, example: 'gpu-1' })
  name?: string;
  @ApiPropertyOptional({ description: 'Of what it runs.', maxLength: 200, example: '1.4.0' })
  version?: string;
  @ApiPropertyOptional({
    description: 'Anything else that people are to see of it: at most 32 texts of 200 characters.',
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { gpu: 'A100' },
  })
  labels?: Record<string, string>;
}

@ApiSchema({ name: 'ClaimedModel', description: 'A model that the worker runs.' })
export class ClaimedModelDto {
  @Field('Its id; its runner is of the kind `worker`.', 'me/image/upscale')
  model_id!: string;
  @ApiPropertyOptional({
    description: 'So many runs of it at most in this answer; as many as of all if left out.',
    type: 'integer',
    minimum: 1,
    maximum: 100,
    example: 1,
  })
  max?: number;
}

@ApiSchema({ name: 'Claim', description: 'Asks for runs.' })
export class ClaimDto {
  @Field('Chosen anew for each claim. The same once more gets the same runs again.', 'c-7f3a', {
    maxLength: 200,
  })
  claim_id!: string;
  @ApiProperty({ description: 'Who claims.', type: WorkerDto })
  worker!: WorkerDto;
  @ApiProperty({ description: 'What it runs, at least one.', type: [ClaimedModelDto] })
  models!: ClaimedModelDto[];
  @ApiPropertyOptional({
    description: 'So many runs at most in this answer; 1 if left out.',
    type: 'integer',
    minimum: 1,
    maximum: 100,
    example: 1,
  })
  max?: number;
}

@ApiSchema({ name: 'WorkerRun', description: 'A run that a worker has been given.' })
export class WorkerRunDto {
  @Field('The request that it is of.', exampleId, { format: 'uuid' })
  request_id!: string;
  @Field('Of the request, from 1 on.', 1, { type: 'integer', minimum: 1 })
  attempt!: number;
  @Field('The model.', 'me/image/upscale')
  model_id!: string;
  @Field('Goes along with all that is said of the run, in the header `Lease-Token`.', exampleToken)
  lease_token!: string;
  @Field('Seconds until the run is given to another, unless a beat or a call of the run comes before.', 10)
  lease_s!: number;
  @Field('When the run is over, whatever comes.', '2026-03-01T12:10:00.000Z', { format: 'date-time' })
  deadline_at!: string;
  @ApiPropertyOptional({
    description: 'The input of the request; absent where `input_url` is there.',
    type: 'object',
    additionalProperties: true,
    example: { prompt: 'a spiral' },
  })
  input?: Record<string, unknown>;
  @ApiPropertyOptional({
    description: 'Where to fetch an input that is too large to go along, with the `Lease-Token`.',
    type: String,
    example: `http://127.0.0.1:3000/v1/worker/runs/${exampleId}/input`,
  })
  input_url?: string;
  @ApiPropertyOptional({
    description: 'The trace that the run is part of, as W3C Trace Context has it.',
    type: String,
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  })
  traceparent?: string;
  @ApiPropertyOptional({ description: 'Beside `traceparent`.', type: String, example: 'vendor=1' })
  tracestate?: string;
}

@ApiSchema({ name: 'ClaimedRuns', description: 'What a claim has brought.' })
export class ClaimedRunsDto {
  @ApiProperty({ description: 'The runs, in the order of the queue.', type: [WorkerRunDto] })
  runs!: WorkerRunDto[];
}

@ApiSchema({ name: 'Beat', description: 'A sign that the worker lives, and has these runs.' })
export class BeatDto {
  @Field('The `id` of the worker.', 'gpu-1', { maxLength: 200 })
  worker_id!: string;
  @ApiPropertyOptional({ description: 'What it does, for people.', maxLength: 32, example: 'ready' })
  state?: string;
  @ApiProperty({
    description: 'The lease tokens of its runs, at most 1,000.',
    type: [String],
    example: [exampleToken],
  })
  leases!: string[];
}

@ApiSchema({ name: 'BeatAnswer', description: 'What the worker is to know.' })
export class BeatAnswerDto {
  @Field('Seconds that a lease lasts from a beat on.', 30)
  lease_s!: number;
  @Field('Seconds after which the next beat is expected.', 10)
  beat_s!: number;
  @Field('`run`; `drain`: claim nothing more; `stop`: end.', 'run', { enum: ['run', 'drain', 'stop'] })
  worker!: 'run' | 'drain' | 'stop';
  @ApiProperty({ description: 'Requests whose runs are to stop.', type: [String], example: [exampleId] })
  cancel!: string[];
  @ApiProperty({
    description: 'Requests whose leases the worker has no more: what it says of them is refused.',
    type: [String],
    example: [],
  })
  lost!: string[];
}

@ApiSchema({ name: 'EventsTaken', description: 'How far the events of a run are written.' })
export class EventsTakenDto {
  @Field('The number of the next event.', 3, { type: 'integer', minimum: 0 })
  next!: number;
  @Field('Whether the run is to stop.', false)
  cancel!: boolean;
}

@ApiSchema({ name: 'WorkerFailure', description: 'How a run failed.' })
export class WorkerFailureDto {
  @ApiPropertyOptional({ description: 'Shown to the caller.', maxLength: 8_192, example: 'out of memory' })
  message?: string;
  @ApiPropertyOptional({
    description: 'Whether another attempt may succeed; false if left out.',
    example: true,
  })
  retryable?: boolean;
  @ApiPropertyOptional({
    description: 'Seconds until the next attempt, at least.',
    type: 'number',
    minimum: 0,
    maximum: 3_600,
    example: 5,
  })
  retry_after_s?: number;
  @ApiPropertyOptional({
    description: 'What the caller is answered in place of 502, where the input is refused for good.',
    type: 'integer',
    minimum: 400,
    maximum: 499,
    example: 422,
  })
  status?: number;
  @ApiPropertyOptional({
    description: 'More of it, as any JSON value of 64 KiB at most.',
    allOf: [{ $ref: '#/components/schemas/JsonValue' }],
    example: { reason: 'the prompt is empty' },
  })
  details?: unknown;
}
