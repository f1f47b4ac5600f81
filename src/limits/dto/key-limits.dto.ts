import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import type { WindowState } from '../budget.js';

@ApiSchema({
  name: 'KeyLimit',
  description: 'The number of calls that a window admits, and the number that is left.',
})
export class KeyLimitDto {
  @Field('The number of calls that any window of this length admits.', 10, { type: 'integer', minimum: 1 })
  limit!: number;
  @Field('The length of the window in seconds.', 1, { type: 'integer', minimum: 1 })
  window_s!: number;
  @Field(
    'The number of calls that are left, over all nodes. Calls that another node admitted in the last 10 s ' +
      'may not be counted yet.',
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

@ApiSchema({
  name: 'KeyLimits',
  description: 'The windows of the rate limits. All windows apply at once; an empty list means no limit.',
})
export class KeyLimitsDto {
  @ApiProperty({ description: 'The windows for submissions, shortest first.', type: [KeyLimitDto] })
  submit!: KeyLimitDto[];
  @ApiProperty({ description: 'The windows for all other calls.', type: [KeyLimitDto] })
  other!: KeyLimitDto[];
  @ApiProperty({ description: 'The windows for the entries of batches.', type: [KeyLimitDto] })
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
