import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';

const circuitStates = ['closed', 'open', 'probing'] as const;

@ApiSchema({ name: 'AddressAway', description: 'An address to which a node sends nothing but probes.' })
export class AddressAwayDto {
  @Field(
    'The address without its path. If several addresses have the same origin, also their number in the list.',
    'http://gpu-2:9000',
  )
  address!: string;
  @Field('The state of the circuit. `probing`: a probe is on its way to the address.', 'open', {
    enum: ['open', 'probing'],
  })
  circuit!: 'open' | 'probing';
  @Field('The time since which the node has not reached it.', '2026-03-01T12:00:00.000Z', {
    type: String,
    format: 'date-time',
  })
  since!: string;
  @Field('The reason.', 'The connection to the model could not be made (ECONNREFUSED).')
  reason!: string;
}

/** Describes whether a node reaches a model. */
export class ModelCircuitDto {
  @Field(
    '`open`: the node cannot reach the model at any of its addresses. `probing`: in addition, a probe is on ' +
      'its way.',
    'closed',
    { enum: circuitStates },
  )
  circuit!: (typeof circuitStates)[number];
  @ApiProperty({
    description: 'The addresses that the node cannot reach. Runs go to the others.',
    type: [AddressAwayDto],
  })
  addresses_away!: AddressAwayDto[];
}
