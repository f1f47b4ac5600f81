import type { RequestRow } from '../../queue/reads/status-row.js';
import { statusOf } from './prediction.js';

const failed = (code: string, own: Partial<RequestRow>): RequestRow =>
  ({ state: 'COMPLETED', outcome: 'failed', error: { code }, hasOwnTimeout: false, ...own }) as RequestRow;

it.each([
  ['expired', { hasOwnExpiry: true }, 'canceled'],
  ['expired', { hasOwnExpiry: null, hasOwnTimeout: true }, 'failed'],
  ['timed_out', { hasOwnTimeout: true }, 'canceled'],
  ['timed_out', { hasOwnExpiry: true }, 'failed'],
  ['model_error', { hasOwnExpiry: true, hasOwnTimeout: true }, 'failed'],
])('a request that ended as %s, with the bounds %j of its caller, is shown as %s', (code, own, status) =>
  expect(statusOf(failed(code, own))).toBe(status),
);
