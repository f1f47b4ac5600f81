import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { ModelFiguresDto } from '../../overview/dto/model-figures.dto.js';
import { type Order, orders, type Pause, pauses } from '../../models/model.js';

const at = { type: String, format: 'date-time', nullable: true } as const;
const pausesAndFalse = {
  oneOf: [
    { type: 'boolean', enum: [false] },
    { type: 'string', enum: [...pauses] },
  ],
};

@ApiSchema({
  name: 'OverriddenConcurrency',
  description: 'The concurrency of a model: the value in the models file, and an operator’s override.',
})
export class OverriddenConcurrencyDto {
  @Field('The concurrency that applies; null: unlimited, because workers run the model.', 2, {
    type: 'integer',
    minimum: 1,
    nullable: true,
  })
  current!: number | null;
  @Field('The value in the models file; null: unlimited.', 4, { type: 'integer', minimum: 1, nullable: true })
  base!: number | null;
  @Field('The override of an operator; null: there is none.', 2, {
    type: 'integer',
    nullable: true,
    minimum: 1,
  })
  override!: number | null;
  @Field('The time at which the override was set; null: there is none.', '2026-03-01T12:00:00.000Z', at)
  overridden_at!: string | null;
  @Field('The name of the key that set the override.', 'ops', { type: String, nullable: true })
  overridden_by!: string | null;
}

@ApiSchema({ name: 'OverriddenPause', description: 'Whether the model is paused, and who paused it.' })
export class OverriddenPauseDto {
  @Field(
    'Whether the model is paused. While it is paused, no run of it starts. With `hold`, submissions wait; ' +
      'with `reject`, they are answered 503 `model_paused`.',
    'hold',
    pausesAndFalse,
  )
  current!: Pause | false;
  @Field('Always false, because the models file cannot pause a model.', false, {
    enum: [false],
    type: Boolean,
  })
  base!: false;
  @Field('The pause that an operator has set; null: there is none.', 'hold', {
    type: String,
    enum: pauses,
    nullable: true,
  })
  override!: Pause | null;
  @Field('The time at which the pause was set; null: there is none.', '2026-03-01T12:00:00.000Z', at)
  overridden_at!: string | null;
  @Field('The name of the key that set the pause.', 'ops', { type: String, nullable: true })
  overridden_by!: string | null;
}

@ApiSchema({ name: 'AdminModel', description: 'A model as operators see it.' })
export class AdminModelDto extends ModelFiguresDto {
  @Field('The id of the model.', 'demo/image/fractal')
  id!: string;
  @Field('The kind of its runner.', 'demo')
  kind!: string;
  @Field(
    'Whether keys take turns (`fair`), or requests start in the order of their arrival (`arrival`).',
    'fair',
    { enum: orders },
  )
  order!: Order;
  @ApiProperty({ description: 'The number of runs at once, over all nodes.', type: OverriddenConcurrencyDto })
  concurrency!: OverriddenConcurrencyDto;
  @ApiProperty({ description: 'Whether the model is paused.', type: OverriddenPauseDto })
  paused!: OverriddenPauseDto;
}

@ApiSchema({ name: 'AdminModelList', description: 'All models.' })
export class AdminModelListDto {
  @ApiProperty({ description: 'The models, in the order of the models file.', type: [AdminModelDto] })
  data!: AdminModelDto[];
  @Field('Always null, because there is only one page.', null, { type: String, nullable: true })
  next_cursor!: null;
}

@ApiSchema({ name: 'ModelChange', description: 'A change of a model. An omitted member stays as it is.' })
export class ModelChangeDto {
  @ApiPropertyOptional({
    description: 'The number of runs at once, over all nodes; null: the value in the models file.',
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    nullable: true,
    example: 2,
  })
  concurrency?: number | null;
  @ApiPropertyOptional({
    description:
      '`hold`: no run starts, and submissions wait. `reject`: submissions are refused. false or null: the ' +
      'model is not paused.',
    oneOf: [...pausesAndFalse.oneOf, { type: 'null' }],
    example: 'hold',
  })
  paused?: Pause | false | null;
  @ApiPropertyOptional({
    description: 'The reason, for the audit.',
    type: String,
    maxLength: 500,
    nullable: true,
    example: 'new weights',
  })
  reason?: string | null;
}

@ApiSchema({ name: 'RemovedModel', description: 'A model that is no longer in the models file.' })
export class RemovedModelDto {
  @Field('The id of the model.', 'acme/image/upscale')
  id!: string;
  @Field(
    'The number of requests that wait for it. They wait until the model returns, or until they are cancelled ' +
      'or expire.',
    0,
    {
      type: 'integer',
      minimum: 0,
    },
  )
  waiting!: number;
}

@ApiSchema({ name: 'ModelsReload', description: 'The changes since the models file was last read.' })
export class ModelsReloadDto {
  @ApiProperty({ description: 'Models that are new.', type: [String], example: ['acme/image/upscale'] })
  added!: string[];
  @ApiProperty({
    description: 'Models whose options have changed.',
    type: [String],
    example: ['demo/text/echo'],
  })
  changed!: string[];
  @ApiProperty({ description: 'Models that are no longer in the file.', type: [RemovedModelDto] })
  removed!: RemovedModelDto[];
}
