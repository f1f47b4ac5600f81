import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Allowances } from '../../allowances/allowances.js';
import { StoredAllowanceDto } from '../../files/dto/stored-allowance.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';

@ApiSchema({ name: 'Allowance', description: 'What the key holds, and the most that it may hold.' })
export class AllowanceDto {
  @Field('What it holds now.', 2, { type: 'integer', minimum: 0 })
  used!: number;
  @Field('The most that it may hold.', 1_000, { type: 'integer', minimum: 1 })
  max!: number;
}

@ApiSchema({
  name: 'KeyAllowances',
  description:
    'What the key holds, and may hold. Bytes in memory and streams are those of the node that answers; each node counts its own.',
})
export class KeyAllowancesDto {
  @ApiProperty({
    description: 'Bytes in memory: bodies, inflated, and answers that have not been read.',
    type: AllowanceDto,
  })
  bytes!: AllowanceDto;
  @ApiProperty({ description: 'Open streams, and calls that are held (`Prefer: wait`).', type: AllowanceDto })
  streams!: AllowanceDto;
  @ApiProperty({ description: 'Its files, over all nodes.', type: StoredAllowanceDto })
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
