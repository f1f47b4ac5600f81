import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ReasonOption } from '../../audit/reason.js';
import { BodySchema } from '../../http/input/body.js';
import { HeaderField, Option } from '../../http/input/option.js';
import { orNull, rule, text, whole } from '../../tools/rules.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { ModelFiguresDto } from '../../overview/dto/model-figures.dto.js';
import { type Order, orders, type Pause, pauses } from '../../models/model.js';
import { timeOrNull } from '../../http/openapi/schemas.js';

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
  @Field(
    'The time at which the override was set; null: there is none.',
    '2026-03-01T12:00:00.000Z',
    timeOrNull,
  )
  overridden_at!: string | null;
  @Field('The name of the key that set the override.', 'ops', { type: String, nullable: true })
  overridden_by!: string | null;
}

@ApiSchema({ name: 'OverriddenPause', description: 'The pause of a model, and the key that set it.' })
export class OverriddenPauseDto {
  @Field(
    'The pause that applies; false: the model is not paused. While it is paused, no run of it starts. With `hold`, submissions wait; ' +
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
  @Field('The time at which the pause was set; null: there is none.', '2026-03-01T12:00:00.000Z', timeOrNull)
  overridden_at!: string | null;
  @Field('The name of the key that set the pause.', 'ops', { type: String, nullable: true })
  overridden_by!: string | null;
}

@ApiSchema({
  name: 'AdminModelReserve',
  description: 'The slots that a model keeps for a priority and those above.',
})
export class AdminModelReserveDto {
  @Field('The number of slots that only requests of high priority may use.', 1, {
    type: 'integer',
    minimum: 0,
  })
  high!: number;
  @Field('The number of slots besides those that only requests of normal priority or above may use.', 0, {
    type: 'integer',
    minimum: 0,
  })
  normal!: number;
}

@ApiSchema({ name: 'AdminModel', description: 'A model as operators see it.' })
export class AdminModelDto extends ModelFiguresDto {
  @Field('The id of the model.', 'demo/image/fractal')
  id!: string;
  @Field('The kind of its runner.', 'demo')
  kind!: string;
  @Field('The preset that says how its server is called; null: there is none.', 'openai', {
    type: String,
    nullable: true,
  })
  preset!: string | null;
  @ApiProperty({
    description:
      'The addresses of its servers, without paths, queries and credentials. Empty: its runs need no server, or ' +
      'workers run it. `addresses_away` names the same ones.',
    type: [String],
    example: ['http://gpu-1:8000', 'http://gpu-2:8000'],
  })
  addresses!: string[];
  @Field('`off`: it gets runs also while it cannot be reached, and no address is known to be away.', 'on', {
    enum: ['on', 'off'],
  })
  circuit!: 'on' | 'off';
  @Field(
    'The order of the queue. `fair`: keys take turns. `arrival`: requests start in the order of their arrival.',
    'fair',
    { enum: orders },
  )
  order!: Order;
  @ApiProperty({ description: 'The number of runs at once, over all nodes.', type: OverriddenConcurrencyDto })
  concurrency!: OverriddenConcurrencyDto;
  @ApiProperty({
    description: 'The slots that it keeps for a priority and those above it.',
    type: AdminModelReserveDto,
  })
  reserve!: AdminModelReserveDto;
  @ApiProperty({ description: 'The pause of the model.', type: OverriddenPauseDto })
  paused!: OverriddenPauseDto;
}

@ApiSchema({ name: 'AdminModelList', description: 'All models.' })
export class AdminModelListDto {
  @ApiProperty({ description: 'The models, in the order of the models file.', type: [AdminModelDto] })
  data!: AdminModelDto[];
  @Field('Always null, because there is only one page.', null, { type: String, nullable: true })
  next_cursor!: null;
}

const pause = rule<Pause | null>({ oneOf: [...pausesAndFalse.oneOf, { type: 'null' }] }, (value) => {
  if (value === null || value === false) return null;
  const found = pauses.find((one) => one === value);
  if (found === undefined) throw new Error(`expected false, ${pauses.join(', ')}, or null for false`);
  return found;
});

@BodySchema({
  name: 'ModelChange',
  description: 'A change of a model. An omitted member stays as it is.',
  examples: {
    pause: { paused: 'hold', reason: 'new weights' },
    resume: { paused: false },
    concurrency: { concurrency: 2 },
    reset: { concurrency: null },
  },
})
export class ModelChangeDto {
  @Option(
    orNull(whole(1, 10_000)),
    'The number of runs at once, over all nodes; null: the value in the models file.',
    2,
  )
  concurrency: number | null | undefined;
  @Option(
    pause,
    '`hold`: no run starts, and submissions wait. `reject`: submissions are refused. false or null: the ' +
      'model is not paused.',
    'hold',
  )
  paused: Pause | null | undefined;
  @ReasonOption()
  reason: string | undefined;
}

export const exampleVersion = '"q1w2e3r4t5y6u7i8o9p0a1"';

export class IfMatchHeaders {
  @HeaderField('If-Match', text, {
    description: 'An `ETag`. If the overrides have changed since, the call changes nothing and answers 412.',
    example: exampleVersion,
  })
  'if-match': string | undefined;
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
