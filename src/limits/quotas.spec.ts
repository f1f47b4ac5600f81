import type { Repository } from 'typeorm';
import type { Caller } from '../auth/caller.js';
import { parseRateLimits } from '../config/parsers.js';
import type { LimitShareEntity } from './entities/limit-share.entity.js';
import type { Gate } from './gate.js';
import { Quotas } from './quotas.js';
import type { ShareKeeper } from './share-keeper.js';

const limits = parseRateLimits('10/s,100/m,1000/h');
const subject = { subject: 'key:a', limits, hasKey: true };

/** Returns what is left of each window when another holder used `used` and has been gone for `goneMs`. */
async function left(used: number[], goneMs: number | undefined): Promise<number[]> {
  const row = {
    subject: 'key:a',
    routeClass: 'submit',
    policy: '10/s,100/m,1000/h',
    holderId: 'other',
    used,
  };
  const gone = goneMs === undefined ? [] : [{ id: 'other', forMs: goneMs }];
  const keeper = {
    holder: 'own',
    timing: { now: () => 0 },
    watch: { gone: () => gone },
    use: () => limits.map((window) => ({ window, used: 1, resetMs: 5 })),
  };
  const quotas = new Quotas(
    { subjectOfKey: (_: Caller, routeClass: string) => ({ ...subject, routeClass }) } as Gate,
    keeper as unknown as ShareKeeper,
    { findBy: () => Promise.resolve([row]) } as unknown as Repository<LimitShareEntity>,
  );
  const { submit } = (await quotas.of([{} as Caller]))({} as Caller);
  return submit.map(({ remaining }) => remaining);
}

it.each([
  ['lives', undefined, [9, 69, 899]],
  ['left a moment ago', 2_000, [9, 69, 899]],
  ['is gone for more than a minute', 61_000, [9, 99, 899]],
  ['is gone for more than an hour', 3_601_000, [9, 99, 999]],
])('what another used counts for as long as the window lasts, where it %s', async (_, goneMs, expected) => {
  expect(await left([8, 30, 100], goneMs)).toEqual(expected);
});
