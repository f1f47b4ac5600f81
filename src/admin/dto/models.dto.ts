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
  description: 'A number of the models file, and what was set beside it.',
})
export class OverriddenConcurrencyDto {
  @Field('What holds; null: no bound, for workers run it.', 2, {
    type: 'integer',
    minimum: 1,
    nullable: true,
  })
  current!: number | null;
  @Field('As the file has it; null: no bound.', 4, { type: 'integer', minimum: 1, nullable: true })
  base!: number | null;
  @Field('What an operator has set; null: nothing.', 2, { type: 'integer', nullable: true, minimum: 1 })
  override!: number | null;
  @Field('When; null: nothing is set.', '2026-03-01T12:00:00.000Z', at)
  overridden_at!: string | null;
  @Field('The name of the key that set it.', 'ops', { type: String, nullable: true })
  overridden_by!: string | null;
}

@ApiSchema({ name: 'OverriddenPause', description: 'Whether the model is paused, and who paused it.' })
export class OverriddenPauseDto {
  @Field(
    'Nothing of it starts: with `hold` submissions wait, with `reject` they are answered 503 `model_paused`.',
    'hold',
    pausesAndFalse,
  )
  current!: Pause | false;
  @Field('Always false: the file pauses nothing.', false, { enum: [false], type: Boolean })
  base!: false;
  @Field('What an operator has set; null: nothing.', 'hold', { type: String, enum: pauses, nullable: true })
  override!: Pause | null;
  @Field('When; null: nothing is set.', '2026-03-01T12:00:00.000Z', at)
  overridden_at!: string | null;
  @Field('The name of the key that set it.', 'ops', { type: String, nullable: true })
  overridden_by!: string | null;
}

@ApiSchema({ name: 'AdminModel', description: 'A model as operators see it.' })
export class AdminModelDto extends ModelFiguresDto {
  @Field('As callers name it.', 'demo/image/fractal')
  id!: string;
  @Field('The kind of its runner.', 'demo')
  kind!: string;
  @Field('Whether keys take turns, or all go as they came.', 'fair', { enum: orders })
  order!: Order;
  @ApiProperty({ description: 'Runs at once, over all nodes.', type: OverriddenConcurrencyDto })
  concurrency!: OverriddenConcurrencyDto;
  @ApiProperty({ description: 'Whether it starts anything.', type: OverriddenPauseDto })
  paused!: OverriddenPauseDto;
}

@ApiSchema({ name: 'AdminModelList', description: 'All models.' })
export class AdminModelListDto {
  @ApiProperty({ description: 'In the order of the models file.', type: [AdminModelDto] })
  data!: AdminModelDto[];
  @Field('Always null: it is one page.', null, { type: String, nullable: true })
  next_cursor!: null;
}

@ApiSchema({ name: 'ModelChange', description: 'What is left out stays as it is.' })
export class ModelChangeDto {
  @ApiPropertyOptional({
    description: 'Runs at once, over all nodes; null: as the file has it.',
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
    nullable: true,
    example: 2,
  })
  concurrency?: number | null;
  @ApiPropertyOptional({
    description:
      '`hold`: nothing starts, submissions wait. `reject`: they are refused. false, null: neither.',
    oneOf: [...pausesAndFalse.oneOf, { type: 'null' }],
    example: 'hold',
  })
  paused?: Pause | false | null;
  @ApiPropertyOptional({
    description: 'Why, for the audit.',
    type: String,
    maxLength: 500,
    nullable: true,
    example: 'new weights',
  })
  reason?: string | null;
}

@ApiSchema({ name: 'RemovedModel', description: 'A model that has left the models file.' })
export class RemovedModelDto {
  @Field('As callers named it.', 'acme/image/upscale')
  id!: string;
  @Field('So many requests wait for it, until it is back or they are cancelled or expire.', 0, {
    type: 'integer',
    minimum: 0,
  })
  waiting!: number;
}

@ApiSchema({ name: 'ModelsReload', description: 'What has changed since the models file was read before.' })
export class ModelsReloadDto {
  @ApiProperty({ description: 'Models that are new.', type: [String], example: ['acme/image/upscale'] })
  added!: string[];
  @ApiProperty({ description: 'Models with other options.', type: [String], example: ['demo/text/echo'] })
  changed!: string[];
  @ApiProperty({ description: 'Models that are there no more.', type: [RemovedModelDto] })
  removed!: RemovedModelDto[];
}
