import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { priorities, type Priority } from '../auth/caller.js';
import { DomainError } from '../errors/domain-error.js';
import { BodySchema, object } from '../http/input/body.js';
import { isObject } from '../http/input/json-body.js';
import { Option, RequiredOption } from '../http/input/option.js';
import { decimal, flag, line, listOf, orLeftOut, rule, whole } from '../tools/rules.js';
import { Field } from '../http/openapi/problem.dto.js';
import { exampleId } from '../http/openapi/responses.js';
import { textOrNull } from '../http/openapi/schemas.js';
import { columnOf, runOptions } from '../queue/submit/submission-options.js';
import { cleanText, isStorable } from '../tools/storable-text.js';

const exampleToken = 'AZqhsnw9fk-KW2x9jp8KG8D4mZ5k8kYJjW0yqC2nT5E';

const idText = line(1, 200);
const maxRuns = 100;
const maxMessageLength = 8_192;
const maxDelaySeconds = 3_600;

const maxLabels = 32;
const maxLabelLength = 200;
const labels = rule<Record<string, string>>(
  { type: 'object', additionalProperties: { type: 'string' } },
  (value) => {
    const isShort = (one: unknown): boolean =>
      typeof one === 'string' && one.length <= maxLabelLength && isStorable(one);
    const entries = isObject(value) ? Object.entries(value) : undefined;
    if (entries !== undefined && entries.length <= maxLabels && entries.flat().every(isShort))
      return value as Record<string, string>;
    throw new Error(
      `expected an object of at most ${maxLabels} texts, each of at most ${maxLabelLength} characters`,
    );
  },
);

/** Fields of newer workers are ignored. */
const unknown = null;

@BodySchema({ name: 'Worker', description: 'The worker that claims.', unknown })
export class WorkerDto {
  @RequiredOption(
    idText,
    'The id that the worker gives itself. It is unique within its key, and always the same for one worker.',
    'gpu-1',
  )
  id!: string;
  @Option(orLeftOut(line(0, 200)), 'The name of the worker, for people; its id if omitted.', 'gpu-1')
  name: string | undefined;
  @Option(orLeftOut(line(0, 200)), 'The version of its program.', '1.4.0')
  version: string | undefined;
  @Option(
    orLeftOut(labels),
    `Other facts about the worker, for people: at most ${maxLabels} texts of ${maxLabelLength} characters.`,
    { gpu: 'A100' },
  )
  labels: Record<string, string> | undefined;
}

@BodySchema({ name: 'ClaimedModel', description: 'A model that the worker runs.', unknown })
export class ClaimedModelDto {
  @RequiredOption(line(1, 256), 'The id of the model. Its runner has the kind `worker`.', 'me/image/upscale')
  model_id!: string;
  @Option(
    orLeftOut(whole(1, maxRuns)),
    'The maximum number of its runs in this answer. If omitted, only the `max` of the claim applies.',
    1,
  )
  max: number | undefined;
}

@BodySchema({
  name: 'Claim',
  description: 'A claim of runs.',
  examples: {
    one: { claim_id: 'c-7f3a', worker: { id: 'gpu-1' }, models: [{ model_id: 'me/image/upscale' }] },
  },
  unknown,
})
export class ClaimDto {
  @RequiredOption(
    idText,
    'A new id for each claim. A repeated claim with the same id gets the same runs.',
    'c-7f3a',
  )
  claim_id!: string;
  @RequiredOption(object(WorkerDto), 'The worker that claims.')
  worker!: WorkerDto;
  @RequiredOption(listOf(object(ClaimedModelDto), 100), 'The models that the worker runs, at least one.')
  models!: readonly ClaimedModelDto[];
  @Option(orLeftOut(whole(1, maxRuns)), 'The maximum number of runs in this answer; 1 if omitted.', 1)
  max: number | undefined;
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
  @Field(
    'The number of milliseconds from this answer to `deadline_at`. Count them with a clock that is never set, ' +
      'because the clock of a machine may be wrong.',
    600_000,
    { type: 'integer', minimum: 0 },
  )
  remaining_ms!: number;
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
  @Field('The name of the key that submitted the request; null: the key was deleted.', 'web shop', textOrNull)
  key_name!: string | null;
  @ApiProperty({
    description: 'The tags of the request, as `key:value`.',
    type: [String],
    example: ['team:search'],
  })
  tags!: readonly string[];
  @Field('The priority of the request.', 'normal', { enum: priorities })
  priority!: Priority;
}

for (const [option, described] of Object.entries(runOptions))
  ApiPropertyOptional(described)(WorkerRunDto.prototype, columnOf(option));

@ApiSchema({ name: 'ClaimedRuns', description: 'The result of a claim.' })
export class ClaimedRunsDto {
  @ApiProperty({ description: 'The runs, in the order of the queue.', type: [WorkerRunDto] })
  runs!: WorkerRunDto[];
}

const maxLeases = 1_000;
const leaseTokens = rule<readonly unknown[]>({ type: [String], maxItems: maxLeases }, (value) => {
  const list = value ?? [];
  if (Array.isArray(list) && list.length <= maxLeases) return list;
  throw new Error(`expected a list of at most ${maxLeases}`);
});

@BodySchema({
  name: 'Beat',
  description: 'A sign of life of a worker, with its runs.',
  examples: { idle: { worker_id: 'gpu-1', state: 'ready', leases: [] } },
  unknown,
})
export class BeatDto {
  @RequiredOption(idText, 'The `id` of the worker.', 'gpu-1')
  worker_id!: string;
  @Option(
    orLeftOut(line(0, 32)),
    'The state of the worker, for people. A worker that says `drain` or `stuck` claims nothing, so it does not ' +
      'count as a worker of its models until its next claim.',
    'ready',
  )
  state: string | undefined;
  @RequiredOption(leaseTokens, 'The lease tokens of its runs, at most 1,000.', [exampleToken])
  leases!: readonly unknown[];
}

@BodySchema({
  name: 'WorkerLeave',
  description: 'What a process of a worker that leaves gives back.',
  examples: { all: { leases: [exampleToken] } },
  unknown,
})
export class WorkerLeaveDto {
  @Option(
    orLeftOut(leaseTokens),
    'The lease tokens of the runs that go back, at most 1,000. Runs of another process with the same worker id stay ' +
      'as they are. If omitted, all runs of the worker go back.',
    [exampleToken],
  )
  leases: readonly unknown[] | undefined;
}

@ApiSchema({ name: 'BeatAnswer', description: 'The answer to a beat.' })
export class BeatAnswerDto {
  @Field('The number of seconds that a lease lasts from a beat on.', 30)
  lease_s!: number;
  @Field('The number of seconds until the next beat is expected.', 10)
  beat_s!: number;
  @Field('The order of an operator. `run`: continue. `drain`: claim nothing more. `stop`: end.', 'run', {
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
  @Field('True if the run must stop.', false)
  cancel!: boolean;
}

const maxDetailsBytes = 64 * 1024;
const details = rule<unknown>({ allOf: [{ $ref: '#/components/schemas/JsonValue' }] }, (value) => {
  if (Buffer.byteLength(JSON.stringify(value)) <= maxDetailsBytes) return value;
  throw new DomainError('body_too_large', `"details" may have ${maxDetailsBytes} bytes at most.`);
});

const maxModelMessageLength = 300;
/** A longer one is cut, and only its first line is kept. */
const modelMessage = rule({ type: String, maxLength: maxModelMessageLength }, (value) => {
  if (typeof value === 'string') return cleanText(value.trim().split('\n', 1)[0]!, maxModelMessageLength);
  throw new Error('expected a text');
});

/** A longer one is cut. */
const message = rule({ type: String, maxLength: maxMessageLength }, (value) => {
  if (typeof value === 'string') return cleanText(value, maxMessageLength);
  throw new Error('expected a text');
});

@BodySchema({
  name: 'WorkerFailure',
  description: 'The failure of a run.',
  examples: {
    passing: { message: 'out of memory', retryable: true, retry_after_s: 5 },
    refusal: { message: 'the prompt is empty', status: 422 },
  },
  unknown,
  takesAnyText: true,
})
export class WorkerFailureDto {
  @Option(orLeftOut(message), 'The message that is shown to the caller.', 'out of memory')
  message: string | undefined;
  @Option(orLeftOut(flag), 'True if another attempt may succeed; false if omitted.', true)
  retryable: boolean | undefined;
  @Option(orLeftOut(decimal(0, maxDelaySeconds)), 'The minimum number of seconds until the next attempt.', 5)
  retry_after_s: number | undefined;
  @Option(
    orLeftOut(whole(400, 499)),
    'The status that the caller gets in place of 502, if the input is refused for good.',
    422,
  )
  status: number | undefined;
  @Option(orLeftOut(details), 'Details of the failure, as any JSON value of at most 64 KiB.', {
    reason: 'the prompt is empty',
  })
  details: unknown;
  @Option(
    orLeftOut(modelMessage),
    'The words of the program that the worker ran, such as the last line of its standard error. Operators see ' +
      'them; callers do not, because they may hold anything.',
    'CUDA error: out of memory',
  )
  model_message: string | undefined;
}

@BodySchema({
  name: 'WorkerRelease',
  description: 'How a run is given back.',
  examples: { later: { retry_after_s: 5 } },
  unknown,
})
export class WorkerReleaseDto {
  @Option(
    orLeftOut(decimal(0, maxDelaySeconds)),
    'The minimum number of seconds until the request starts again; 0 if omitted.',
    5,
  )
  retry_after_s: number | undefined;
}

export class EventsQuery {
  @RequiredOption(
    rule({ type: 'integer', minimum: 0 }, (value) => {
      if (typeof value === 'string' && /^\d{1,9}$/.test(value)) return Number(value);
      throw new Error('expected a number, counted from 0');
    }),
    'The number of the first event of the body, counted from 0 within the attempt.',
    0,
  )
  from!: number;
}
