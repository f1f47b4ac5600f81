import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { codeNames, Field, FieldErrorDto } from '../../http/openapi/problem.dto.js';
import { inQueue } from '../openapi/examples.js';
import { FilterQuery } from './list.query.js';
import { SubmitQuery } from './submit.query.js';

const count = { type: 'integer', minimum: 0 } as const;
const oneOrMore = { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] };

@ApiSchema({ name: 'RequestPage', description: 'A page of a list of requests.' })
export class RequestPageDto {
  @ApiProperty({
    description:
      'Newest first. There may be fewer than asked for, also none, where `next_cursor` is no null.',
    type: 'array',
    items: { $ref: '#/components/schemas/Status' },
  })
  data!: object[];
  @Field('The `cursor` of the next page; null: this is the last one.', null, { type: String, nullable: true })
  next_cursor!: string | null;
}

@ApiSchema({
  name: 'BatchEntry',
  description: 'A submission of a batch; its options are those of one by itself.',
})
export class BatchEntryDto extends SubmitQuery {
  @Field('The model that it is for.', inQueue.model_id)
  model_id!: string;
  @ApiProperty({
    description: 'The input of the model: a JSON object that fits its schema.',
    type: 'object',
    additionalProperties: true,
    example: { prompt: 'a spiral of light' },
  })
  input!: object;
  @ApiPropertyOptional({
    description: 'As the header `Idempotency-Key`: 1 to 255 printable ASCII characters.',
    type: String,
    minLength: 1,
    maxLength: 255,
  })
  idempotency_key?: string;
  @ApiPropertyOptional({
    description: 'One `key:value`, or up to 8.',
    ...oneOrMore,
    isArray: false,
    example: ['job:17'],
  })
  override tag: readonly string[] | undefined;
}

@ApiSchema({ name: 'Batch', description: 'Many submissions.' })
export class BatchDto {
  @ApiProperty({
    description: 'In the order of the results.',
    type: [BatchEntryDto],
    minItems: 1,
    maxItems: 1_000,
  })
  requests!: BatchEntryDto[];
}

@ApiSchema({
  name: 'BatchResult',
  description:
    'What became of an entry: the four fields of a submission with status 202, or what is wrong with it.',
})
export class BatchResultDto {
  @Field('The status that the submission by itself would have been answered with.', 202, {
    type: 'integer',
    minimum: 202,
    maximum: 599,
  })
  status!: number;
  @ApiPropertyOptional({ description: 'The request.', format: 'uuid', example: inQueue.request_id })
  request_id?: string;
  @ApiPropertyOptional({
    description: 'Where the response is.',
    format: 'uri',
    example: inQueue.response_url,
  })
  response_url?: string;
  @ApiPropertyOptional({ description: 'Where the status is.', format: 'uri', example: inQueue.status_url })
  status_url?: string;
  @ApiPropertyOptional({ description: 'Where it is cancelled.', format: 'uri', example: inQueue.cancel_url })
  cancel_url?: string;
  @ApiPropertyOptional({ description: 'The stable name of the kind of problem.', enum: codeNames })
  code?: string;
  @ApiPropertyOptional({ description: 'The problem in words.' })
  detail?: string;
  @ApiPropertyOptional({
    description: 'With `invalid_input`: everything that does not fit the schema of the model.',
    type: [FieldErrorDto],
  })
  errors?: FieldErrorDto[];
}

@ApiSchema({ name: 'BatchResults', description: 'What became of a batch.' })
export class BatchResultsDto {
  @ApiProperty({ description: 'In the order of the entries.', type: [BatchResultDto] })
  results!: BatchResultDto[];
}

@ApiSchema({ name: 'RequestIds', description: 'Some requests.' })
export class RequestIdsDto {
  @ApiProperty({
    description: 'Up to 1,000.',
    type: [String],
    minItems: 1,
    maxItems: 1_000,
    example: [inQueue.request_id],
  })
  request_ids!: string[];
}

@ApiSchema({ name: 'Statuses', description: 'The statuses of some requests.' })
export class StatusesDto {
  @ApiProperty({
    description: 'In the order of the ids; null: unknown, another key’s, or gone.',
    type: 'array',
    items: { anyOf: [{ $ref: '#/components/schemas/Status' }, { type: 'null' }] } as object,
  })
  results!: (object | null)[];
}

@ApiSchema({ name: 'RequestFilter', description: 'The filters of the list; all that are given must fit.' })
export class RequestFilterDto extends FilterQuery {
  @ApiPropertyOptional({
    description: 'One `key:value`, or several that must all be there.',
    ...oneOrMore,
    isArray: false,
    example: 'job:17',
  })
  override tag: readonly string[] | undefined;
}

@ApiSchema({ name: 'CancelMany', description: 'Which requests: by their ids or by a filter, not both.' })
export class CancelManyDto {
  @ApiPropertyOptional({ description: 'Up to 10,000.', type: [String], minItems: 1, maxItems: 10_000 })
  request_ids?: string[];
  @ApiPropertyOptional({ description: 'At least one filter.', type: RequestFilterDto })
  filter?: RequestFilterDto;
}

@ApiSchema({ name: 'CancelCounts', description: 'What became of the requests.' })
export class CancelCountsDto {
  @Field('Waited, and will never start.', 12, count)
  cancelled!: number;
  @Field('Are running and were asked to stop.', 4, count)
  cancellation_requested!: number;
  @Field('Had completed. A filter finds none that had before the call.', 0, count)
  already_completed!: number;
  @Field('Are unknown, another key’s, or gone.', 0, count)
  unknown!: number;
  @Field('Whether others fit the filter still: send the call again.', false)
  more!: boolean;
}
