import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';

const circuitStates = ['closed', 'open', 'probing'] as const;

@ApiSchema({ name: 'AddressAway', description: 'An address that a node sends nothing but probes.' })
export class AddressAwayDto {
  @Field('Without its path; of several with one origin, which of the list.', 'http://gpu-2:9000')
  address!: string;
  @Field('`probing`: a request is on its way there, to find out.', 'open', { enum: ['open', 'probing'] })
  circuit!: 'open' | 'probing';
  @Field('Since when.', '2026-03-01T12:00:00.000Z', { type: String, format: 'date-time' })
  since!: string;
  @Field('Why.', 'The connection to the model could not be made (ECONNREFUSED).')
  reason!: string;
}

/** Whether a node reaches a model. */
export class ModelCircuitDto {
  @Field(
    '`open`: it finds the model away, with all its addresses. `probing`: and a request is on its way to find out.',
    'closed',
    { enum: circuitStates },
  )
  circuit!: (typeof circuitStates)[number];
  @ApiProperty({ description: 'The others get its runs.', type: [AddressAwayDto] })
  addresses_away!: AddressAwayDto[];
}
