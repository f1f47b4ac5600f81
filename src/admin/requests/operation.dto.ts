import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { operationActions } from '../../operations/operations.js';
import { AnyFilterQuery } from './any-list.query.js';
import { AnyRequestDto, BoundedCountDto, count, cursorText, textOrNull, time, timeOrNull } from './dto.js';

const at = '2026-03-01T12:00:00.000Z';

@ApiSchema({ name: 'StartOperation', description: 'An action on all requests that a filter finds.' })
export class StartOperationDto {
  @Field('What to do with each.', 'cancel', { enum: [...operationActions] })
  action!: string;
  @ApiPropertyOptional({ description: 'As in the list; all that are given must fit.', type: AnyFilterQuery })
  filter?: AnyFilterQuery;
  @ApiPropertyOptional({
    description: 'An empty filter means every request, if this is true.',
    default: false,
  })
  all?: boolean;
  @ApiPropertyOptional({ description: 'Only counts them, and shows three.', default: false })
  validate_only?: boolean;
  @ApiPropertyOptional({ description: 'Why, for the audit.', maxLength: 500 })
  reason?: string;
}

@ApiSchema({ name: 'OperationPreview', description: 'What an operation would be about.' })
export class OperationPreviewDto {
  @ApiProperty({ description: 'How many.', type: BoundedCountDto })
  count!: BoundedCountDto;
  @ApiProperty({ description: 'The newest three.', type: [AnyRequestDto] })
  sample!: AnyRequestDto[];
}

@ApiSchema({ name: 'Operation', description: 'One action on many requests, and how far it is.' })
export class OperationDto {
  @Field('Its id.', exampleId, { format: 'uuid' })
  id!: string;
  @Field('What is done with each.', 'cancel', { enum: [...operationActions] })
  action!: string;
  @Field('Where it stands. `collecting`: its requests are being found.', 'running', {
    enum: ['collecting', 'running', 'stopping', 'stopped', 'done'],
  })
  state!: string;
  @ApiProperty({
    description: 'As it was started; of `ids` how many, and `id_prefix` with the scope `payloads` alone.',
    type: 'object',
    additionalProperties: true,
    example: { tag: ['job:17'] },
  })
  filter!: object;
  @Field(
    'How many requests the filter finds, of those of when it was started; while it is `collecting`, so far.',
    312,
    count,
  )
  total!: number;
  @Field('Of those: done.', 200, count)
  done!: number;
  @Field('No longer fit for it when their turn came.', 2, count)
  skipped!: number;
  @Field('Not done, for the reason in `last_error`.', 0, count)
  failed!: number;
  @Field('Of the last that failed.', null, textOrNull)
  last_error!: string | null;
  @Field('Why, as it was given.', null, textOrNull)
  reason!: string | null;
  @Field('The name of the key that started it.', 'ops', {})
  by!: string;
  @Field('When it was started.', at, time)
  created_at!: string;
  @Field('When it was over.', null, timeOrNull)
  ended_at!: string | null;
}

@ApiSchema({ name: 'OperationPage', description: 'A page of operations.' })
export class OperationPageDto {
  @ApiProperty({ description: 'Newest first.', type: [OperationDto] })
  data!: OperationDto[];
  @Field(cursorText, null, textOrNull)
  next_cursor!: string | null;
}
