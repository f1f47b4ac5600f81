import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import type { WindowState } from '../admission.js';

@ApiSchema({
  name: 'KeyLimit',
  description: 'How many calls are allowed in a window, and what is left of them.',
})
export class KeyLimitDto {
  @Field('Calls that any window of that length admits.', 10, { type: 'integer', minimum: 1 })
  limit!: number;
  @Field('The length of the window in seconds.', 1, { type: 'integer', minimum: 1 })
  window_s!: number;
  @Field(
    'Calls that are left, over all nodes; what another node admitted in the last 10 s may not be in it yet.',
    9,
    { type: 'integer', minimum: 0 },
  )
  remaining!: number;
  @Field('Seconds until the oldest counted call leaves the window and makes room; 0: none is counted.', 1, {
    type: 'integer',
    minimum: 0,
  })
  reset_s!: number;
}

@ApiSchema({ name: 'KeyLimits', description: 'All windows hold at once; an empty list is no limit.' })
export class KeyLimitsDto {
  @ApiProperty({ description: 'Of submissions, the shortest window first.', type: [KeyLimitDto] })
  submit!: KeyLimitDto[];
  @ApiProperty({ description: 'Of all other calls.', type: [KeyLimitDto] })
  other!: KeyLimitDto[];
  @ApiProperty({ description: 'Of the items of calls that submit many.', type: [KeyLimitDto] })
  batch!: KeyLimitDto[];
}

export function toKeyLimit({ window, remaining, resetMs }: WindowState): KeyLimitDto {
  return {
    limit: window.limit,
    window_s: window.windowMs / 1_000,
    remaining,
    reset_s: Math.ceil(resetMs / 1_000),
  };
}
