import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { DomainError } from '../../errors/domain-error.js';
import { BodySchema } from '../../http/input/body.js';
import { isObject } from '../../http/input/json-body.js';
import { Option, optionsOf, RequiredOption } from '../../http/input/option.js';
import { ids, orLeftOut, rule } from '../../tools/rules.js';
import { PageDto } from '../../http/openapi/page.dto.js';
import { codeNames, Field, FieldErrorDto } from '../../http/openapi/problem.dto.js';
import { maxEntries } from '../../json/batch-body.js';
import type { RequestFilter } from '../../queue/reads/request-filter.js';
import { inQueue } from '../openapi/examples.js';
import { maxIdempotencyKeyLength } from './submit.headers.js';
import { FilterQuery, toFilter } from './list.query.js';
import { SubmitQuery } from './submit.query.js';
import { count } from '../../http/openapi/schemas.js';

const oneOrMore = { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] };

@ApiSchema({ name: 'RequestPage', description: 'A page of a list of requests.' })
export class RequestPageDto extends PageDto {
  @ApiProperty({
    description:
      'The requests, newest first. A page may be short or empty although `next_cursor` is not null.',
    type: 'array',
    items: { $ref: '#/components/schemas/Status' },
  })
  data!: object[];
}

export const idempotencyKey = orLeftOut(
  rule({ type: String, minLength: 1, maxLength: maxIdempotencyKeyLength }, (value) => {
    const isKey = typeof value === 'string' && /^[\x20-\x7e]+$/.test(value);
    if (isKey && value.length <= maxIdempotencyKeyLength) return value;
    throw new DomainError(
      'invalid_idempotency_key',
      `An "idempotency_key" takes 1 to ${maxIdempotencyKeyLength} printable ASCII characters.`,
    );
  }),
);

@ApiSchema({
  name: 'BatchEntry',
  description: 'A submission in a batch. It has the same options as a single submission.',
})
export class BatchEntryDto extends SubmitQuery {
  @Field('The model of the request.', inQueue.model_id)
  model_id!: string;
  @ApiProperty({
    description: 'The input of the model: a JSON object that fits its schema.',
    type: 'object',
    additionalProperties: true,
    example: { prompt: 'a spiral of light' },
  })
  input!: object;
  @Option(
    idempotencyKey,
    `Like the header \`Idempotency-Key\`: 1 to ${maxIdempotencyKeyLength} printable ASCII characters.`,
  )
  idempotency_key: string | undefined;
  @ApiPropertyOptional({
    description: 'One tag `key:value`, or up to 8.',
    ...oneOrMore,
    isArray: false,
    example: ['job:17'],
  })
  tag: readonly string[] | undefined;
}

@ApiSchema({ name: 'Batch', description: 'A batch of submissions.' })
export class BatchDto {
  @ApiProperty({
    description: 'The submissions. The results have the same order.',
    type: [BatchEntryDto],
    minItems: 1,
    maxItems: maxEntries,
  })
  requests!: BatchEntryDto[];
}

@ApiSchema({
  name: 'BatchResult',
  description: 'The result of an entry: the four fields of a submission with status 202, or the problem.',
})
export class BatchResultDto {
  @Field('The status that a single submission would get.', 202, {
    type: 'integer',
    minimum: 202,
    maximum: 599,
  })
  status!: number;
  @ApiPropertyOptional({ description: 'The request.', format: 'uuid', example: inQueue.request_id })
  request_id?: string;
  @ApiPropertyOptional({
    description: 'The URL of the response.',
    format: 'uri',
    example: inQueue.response_url,
  })
  response_url?: string;
  @ApiPropertyOptional({ description: 'The URL of the status.', format: 'uri', example: inQueue.status_url })
  status_url?: string;
  @ApiPropertyOptional({
    description: 'The URL that cancels the request.',
    format: 'uri',
    example: inQueue.cancel_url,
  })
  cancel_url?: string;
  @ApiPropertyOptional({ description: 'The stable name of the kind of problem.', enum: codeNames })
  code?: string;
  @ApiPropertyOptional({ description: 'A description of the problem.' })
  detail?: string;
  @ApiPropertyOptional({
    description: 'With `invalid_input`: every place that does not fit the schema of the model.',
    type: [FieldErrorDto],
  })
  errors?: FieldErrorDto[];
}

@ApiSchema({ name: 'BatchResults', description: 'The results of a batch.' })
export class BatchResultsDto {
  @ApiProperty({ description: 'The results, in the order of the entries.', type: [BatchResultDto] })
  results!: BatchResultDto[];
}

export const maxStatuses = 1_000;
export const maxCancelIds = 10_000;

@BodySchema({
  name: 'RequestIds',
  description: 'A list of requests.',
  examples: { ids: { request_ids: [inQueue.request_id] } },
})
export class RequestIdsDto {
  @RequiredOption(ids(maxStatuses), `The ids of the requests, up to ${maxStatuses.toLocaleString('en')}.`, [
    inQueue.request_id,
  ])
  request_ids!: readonly string[];
}

@ApiSchema({ name: 'Statuses', description: 'The statuses of a list of requests.' })
export class StatusesDto {
  @ApiProperty({
    description:
      'The statuses, in the order of the ids; null: the request is unknown, belongs to another key, or was deleted.',
    type: 'array',
    items: { anyOf: [{ $ref: '#/components/schemas/Status' }, { type: 'null' }] } as object,
  })
  results!: (object | null)[];
}

@ApiSchema({
  name: 'RequestFilter',
  description: 'The filters of the list. A request must match every filter that is given.',
})
export class RequestFilterDto extends FilterQuery {
  @ApiPropertyOptional({
    description: 'One tag `key:value`, or several that a request must all have.',
    ...oneOrMore,
    isArray: false,
    example: 'job:17',
  })
  override tag: readonly string[] | undefined;
}

const someFilter = rule<RequestFilter>({ type: RequestFilterDto }, (value) => {
  const filter = isObject(value) ? toFilter(optionsOf(FilterQuery, value)) : undefined;
  if (filter !== undefined) return filter;
  throw new Error('expected at least one filter of the list');
});

@BodySchema({
  name: 'CancelMany',
  description: 'The requests to cancel: by their ids or by a filter, not both.',
  examples: {
    by_filter: { filter: { tag: 'book:7' } },
    by_id: { request_ids: [inQueue.request_id] },
  },
  oneOf: ['request_ids', 'filter'],
})
export class CancelManyDto {
  @Option(
    orLeftOut(ids(maxCancelIds)),
    `The ids of the requests, up to ${maxCancelIds.toLocaleString('en')}.`,
  )
  request_ids: readonly string[] | undefined;
  @Option(orLeftOut(someFilter), 'A filter with at least one member.')
  filter: RequestFilter | undefined;
}

@ApiSchema({ name: 'CancelCounts', description: 'The results of a bulk cancel.' })
export class CancelCountsDto {
  @Field('The number of requests that waited, and will never start.', 12, count)
  cancelled!: number;
  @Field('The number of requests that are running and were asked to stop.', 4, count)
  cancellation_requested!: number;
  @Field(
    'The number of requests that had completed. With a filter, only requests that completed during the call.',
    0,
    count,
  )
  already_completed!: number;
  @Field('The number of requests that are unknown, belong to another key, or were deleted.', 0, count)
  unknown!: number;
  @Field('True if more requests match the filter. In this case, send the call again.', false)
  more!: boolean;
}
