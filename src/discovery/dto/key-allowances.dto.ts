import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Allowances } from '../../allowances/allowances.js';
import { StoredAllowanceDto } from '../../files/dto/stored-allowance.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';

@ApiSchema({
  name: 'Allowance',
  description: 'How much of a resource the key holds, and how much it may hold.',
})
export class AllowanceDto {
  @Field('The amount that it holds now.', 2, { type: 'integer', minimum: 0 })
  used!: number;
  @Field('The maximum that it may hold.', 1_000, { type: 'integer', minimum: 1 })
  max!: number;
}

@ApiSchema({
  name: 'KeyAllowances',
  description:
    'The resources that the key holds, and their maxima. Bytes in memory and streams are those of the node ' +
    'that answers; each node counts its own.',
})
export class KeyAllowancesDto {
  @ApiProperty({
    description: 'Bytes in memory: decompressed bodies, and answers that the client has not read yet.',
    type: AllowanceDto,
  })
  bytes!: AllowanceDto;
  @ApiProperty({ description: 'Open streams and long polls (`Prefer: wait`).', type: AllowanceDto })
  streams!: AllowanceDto;
  @ApiProperty({ description: 'Stored files, over all nodes.', type: StoredAllowanceDto })
  stored!: StoredAllowanceDto;
}

export function toKeyAllowances(
  allowances: Allowances,
  keyId: string,
  stored: StoredAllowanceDto,
): KeyAllowancesDto {
  const used = allowances.usedBy(`key:${keyId}`);
  const { bytes, streams } = allowances.bounds;
  return {
    bytes: { used: used.bytes, max: bytes.caller },
    streams: { used: used.streams, max: streams.caller },
    stored,
  };
}
