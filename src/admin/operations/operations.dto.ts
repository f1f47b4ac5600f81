import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ReasonOption } from '../../audit/reason.js';
import { BodySchema, options } from '../../http/input/body.js';
import { Option, RequiredOption } from '../../http/input/option.js';
import { flag, oneOf, orLeftOut } from '../../tools/rules.js';
import { PageDto } from '../../http/openapi/page.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { type OperationAction, operationActions } from '../../operations/operations.js';
import { AdminFilterQuery } from '../requests/list.query.js';
import { AnyRequestDto, BoundedCountDto } from '../requests/requests.dto.js';
import { count, exampleTime, textOrNull, time, timeOrNull } from '../../http/openapi/schemas.js';

@BodySchema({
  name: 'StartOperation',
  description: 'An action on all requests that match a filter.',
  examples: { cancel: { action: 'cancel', filter: { tag: 'job:17' } } },
})
export class StartOperationDto {
  @RequiredOption(oneOf(operationActions), 'The action on each request.', 'cancel')
  action!: OperationAction;
  @Option(
    orLeftOut(options(AdminFilterQuery)),
    'The filters of the list. A request must match every filter that is given.',
  )
  filter: AdminFilterQuery | undefined;
  @Option(orLeftOut(flag), 'true: an empty filter means every request.', undefined, { default: false })
  all: boolean | undefined;
  @Option(orLeftOut(flag), 'true: only counts the requests, and shows three.', undefined, { default: false })
  validate_only: boolean | undefined;
  @ReasonOption()
  reason: string | undefined;
}

@ApiSchema({ name: 'OperationPreview', description: 'The requests that an operation would cover.' })
export class OperationPreviewDto {
  @ApiProperty({ description: 'The number of requests.', type: BoundedCountDto })
  count!: BoundedCountDto;
  @ApiProperty({ description: 'The newest three requests.', type: [AnyRequestDto] })
  sample!: AnyRequestDto[];
}

@ApiSchema({ name: 'Operation', description: 'An action on many requests, and its progress.' })
export class OperationDto {
  @Field('The id of the operation.', exampleId, { format: 'uuid' })
  id!: string;
  @Field('The action on each request.', 'cancel', { enum: [...operationActions] })
  action!: string;
  @Field('The state of the operation. `collecting`: its requests are being found.', 'running', {
    enum: ['collecting', 'running', 'stopping', 'stopped', 'done'],
  })
  state!: string;
  @ApiProperty({
    description:
      'The filter of the operation. `ids` is the number of ids; `id_prefix` is shown only with the scope ' +
      '`payloads`.',
    type: 'object',
    additionalProperties: true,
    example: { tag: ['job:17'] },
  })
  filter!: object;
  @Field(
    'The number of requests that matched when the operation started. While it is `collecting`, the number ' +
      'found so far.',
    312,
    count,
  )
  total!: number;
  @Field('The number of requests that are done.', 200, count)
  done!: number;
  @Field('The number of requests that no longer qualified when their turn came.', 2, count)
  skipped!: number;
  @Field('The number of requests for which the action failed.', 0, count)
  failed!: number;
  @Field('The error of the last request for which the action failed.', null, textOrNull)
  last_error!: string | null;
  @Field('The reason that the caller gave.', null, textOrNull)
  reason!: string | null;
  @Field('The name of the key that started it.', 'ops', {})
  by!: string;
  @Field('The time at which it was started.', exampleTime, time)
  created_at!: string;
  @Field('The time at which it ended.', null, timeOrNull)
  ended_at!: string | null;
}

@ApiSchema({ name: 'OperationPage', description: 'A page of operations.' })
export class OperationPageDto extends PageDto {
  @ApiProperty({ description: 'The operations, newest first.', type: [OperationDto] })
  data!: OperationDto[];
}
