import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { priorities, type Priority } from '../../auth/caller.js';
import { BodySchema } from '../../http/input/body.js';
import { Option } from '../../http/input/option.js';
import { CursorOption, defaultLimit, LimitOption, type ListOptions } from '../../http/input/page.js';
import { duration, oneOf, orLeftOut, rule, text } from '../../tools/rules.js';
import { PageDto } from '../../http/openapi/page.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { count, countOrNull, exampleTime, textOrNull, time, timeOrNull } from '../../http/openapi/schemas.js';
import { tag } from '../../queue/submit/tags.js';
import { webhookUrl } from '../../requests/dto/submit.query.js';
import { type BatchCounts, type BatchStatus, batchStatuses, type LineFault } from '../batch.js';
import { maxWindowSeconds } from '../batches.js';

const maxInlineLines = 1_000;
const base = 'http://127.0.0.1:3000';
const batchUrl = `${base}/v1/batches/${exampleId}`;

/** Milliseconds, in whole seconds. */
const completionWindow = rule(duration.schema, (value) => {
  const ms = duration.read(value);
  if (ms < 1_000 || ms > maxWindowSeconds * 1_000)
    throw new Error('expected a duration from 1s to 7d, such as 24h');
  return Math.ceil(ms / 1_000) * 1_000;
});

const someLines = rule<readonly unknown[]>(
  {
    type: 'array',
    items: { $ref: '#/components/schemas/BatchLine' },
    minItems: 1,
    maxItems: maxInlineLines,
  },
  (value) => {
    if (Array.isArray(value) && value.length >= 1 && value.length <= maxInlineLines) return value;
    throw new Error(`expected a list of 1 to ${maxInlineLines} lines`);
  },
);

const texts = {
  model: 'The id of the model of lines that name none.',
  tag: 'A tag `key:value`. The requests of the batch have it, too, besides `batch:<batch_id>`.',
  webhook: 'A URL that is called when the batch has ended.',
  priority: 'The priority of its requests: `low` (the default), `normal` or `high`.',
  window:
    'A duration of at most `7d`; `24h` if omitted. Lines that are not done by then are written to the error ' +
    'file with the code `batch_expired`.',
};

/** The options of a batch whose lines are the body of the call. */
export class NewBatchQuery {
  @Option(text, texts.model, 'demo/text/echo')
  model_id: string | undefined;
  @Option(tag, texts.tag, 'book:7')
  tag: string | undefined;
  @Option(webhookUrl, texts.webhook)
  webhook: string | undefined;
  @Option(oneOf(priorities), texts.priority, 'low')
  priority: Priority | undefined;
  @Option(completionWindow, texts.window, '24h')
  completion_window: number | undefined;
}

@ApiSchema({ name: 'BatchLine', description: 'A line of the input of a batch.' })
export class BatchLineDto {
  @Field(
    'What the caller calls the line, 1 to 512 characters. No two lines of a batch have the same.',
    'page-1',
  )
  custom_id!: string;
  @Field('The model of the request. The model of the batch if omitted.', 'demo/text/echo', {
    required: false,
  })
  model_id?: string;
  @ApiProperty({
    description: 'The input of the model: a JSON object that fits its schema.',
    type: 'object',
    additionalProperties: true,
    example: { prompt: 'a spiral of light' },
  })
  input!: object;
}

@BodySchema({
  name: 'NewBatch',
  description: 'The lines of a batch, by the URL of a file with them or as a list, and its options.',
  examples: {
    lines: {
      model_id: 'demo/text/echo',
      requests: [
        { custom_id: 'page-1', input: { page: 1 } },
        { custom_id: 'page-2', input: { page: 2 } },
      ],
    },
    file: {
      model_id: 'demo/text/echo',
      input_file: `${base}/v1/files/5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63/lines.jsonl`,
      tag: 'book:7',
    },
  },
  oneOf: ['input_file', 'requests'],
})
export class NewBatchDto {
  @Option(orLeftOut(text), texts.model, 'demo/text/echo')
  model_id: string | undefined;
  @Option(
    orLeftOut(text),
    'The URL of a file of the key, with one JSON object per line. It is kept until the batch has ended.',
    `${base}/v1/files/5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63/lines.jsonl`,
  )
  input_file: string | undefined;
  @Option(orLeftOut(someLines), `The lines themselves, up to ${maxInlineLines.toLocaleString('en')}.`)
  requests: readonly unknown[] | undefined;
  @Option(orLeftOut(tag), texts.tag, 'book:7')
  tag: string | undefined;
  @Option(orLeftOut(webhookUrl), texts.webhook)
  webhook: string | undefined;
  @Option(orLeftOut(oneOf(priorities)), texts.priority, 'low')
  priority: Priority | undefined;
  @Option(orLeftOut(completionWindow), texts.window, '24h')
  completion_window: number | undefined;
}

export class BatchesQuery implements ListOptions {
  @Option(oneOf(batchStatuses), 'Only batches with this status.', 'in_progress')
  status: BatchStatus | undefined;
  @Option(tag, 'Only batches with this tag.', 'book:7')
  tag: string | undefined;
  @LimitOption() limit = defaultLimit;
  @CursorOption() cursor: string | undefined;
}

@ApiSchema({
  name: 'BatchLineCounts',
  description: 'The lines of a batch, by what has become of them. Their sum is the total.',
})
class BatchCountsDto implements BatchCounts {
  @Field('The number of lines; null: the input has not been read to its end.', 50_000, countOrNull)
  total!: number | null;
  @Field('Lines that wait, in the queue or in the input.', 47_900, count)
  waiting!: number;
  @Field('Lines whose requests run.', 8, count)
  running!: number;
  @Field('Lines with an output.', 2_050, count)
  completed!: number;
  @Field('Lines that failed.', 42, count)
  failed!: number;
  @Field('Lines that were cancelled.', 0, count)
  cancelled!: number;
  @Field('Lines that were not done in time.', 0, count)
  expired!: number;
}

/** The part of a fault that everyone sees. */
export class BatchFaultPlaceDto {
  @Field('The number of the line in the input, from 1 on; null: the whole input is at fault.', 3, {
    type: 'integer',
    nullable: true,
  })
  line!: number | null;
  @Field(
    'The stable name of the kind of problem: a code of problems, or `duplicate_custom_id`.',
    'bad_request',
  )
  code!: string;
}

@ApiSchema({ name: 'BatchFault', description: 'A line that keeps its batch from starting.' })
class BatchFaultDto extends BatchFaultPlaceDto implements LineFault {
  @Field('A description of the problem.', 'A line needs a "custom_id", a text.')
  message!: string;
}

/** The part of a batch that its caller and operators see. */
export class BatchFactsDto {
  @Field('The id of the batch. Its requests have the tag `batch:<batch_id>`.', exampleId, { format: 'uuid' })
  batch_id!: string;
  @Field(
    '`validating`: its input is checked. `in_progress`: its lines run. `finalizing`: the last lines are written ' +
      'to its files. `completed`: all lines are done, whether they failed or not. `failed`: its input is not valid, and nothing ' +
      'was submitted. `expired`: its time was over. `cancelling`, then `cancelled`: a call has cancelled it.',
    'in_progress',
    { enum: [...batchStatuses] },
  )
  status!: BatchStatus;
  @Field('The model of lines that name none.', 'demo/text/echo', textOrNull)
  model_id!: string | null;
  @Field('Its tag.', null, textOrNull)
  tag!: string | null;
  @Field('The priority of its requests.', 'low', { enum: [...priorities] })
  priority!: Priority;
  @Field('The time at which it was made.', exampleTime, time)
  created_at!: string;
  @Field('The time at which its input was found to be valid.', exampleTime, timeOrNull)
  started_at!: string | null;
  @Field('The time at which it ended.', null, timeOrNull)
  ended_at!: string | null;
  @Field('The time at which lines that are not done expire.', '2026-03-02T12:00:00.000Z', time)
  expires_at!: string;
  @ApiProperty({ description: 'Its lines, by what has become of them.', type: BatchCountsDto })
  counts!: BatchCounts;
}

@ApiSchema({ name: 'BatchStatus', description: 'A batch at one moment. Its counts are exact.' })
export class BatchDto extends BatchFactsDto {
  @ApiProperty({ description: 'Why it failed: at most the first hundred faults.', type: [BatchFaultDto] })
  errors!: readonly LineFault[];
  @Field('The URL that is called when it has ended.', null, textOrNull)
  webhook!: string | null;
  @Field('The URL of the batch.', batchUrl, { format: 'uri' })
  batch_url!: string;
  @Field('The URL that cancels it.', `${batchUrl}/cancel`, { format: 'uri' })
  cancel_url!: string;
  @Field('The URL of its output.', `${batchUrl}/output`, { format: 'uri' })
  output_url!: string;
  @Field('The URL of its errors.', `${batchUrl}/errors`, { format: 'uri' })
  errors_url!: string;
}

@ApiSchema({
  name: 'BatchCompletedEvent',
  description: 'The body of `batch.completed`: the batch that has ended.',
})
export class BatchCompletedEventDto extends BatchDto {
  @Field('The type of the event.', 'batch.completed', { enum: ['batch.completed'] })
  type!: 'batch.completed';
  @Field('The time at which the batch ended, in UTC with milliseconds.', exampleTime, time)
  timestamp!: string;
}

@ApiSchema({ name: 'BatchPage', description: 'A page of batches.' })
export class BatchPageDto extends PageDto {
  @ApiProperty({ description: 'The batches, newest first.', type: [BatchDto] })
  data!: BatchDto[];
}
