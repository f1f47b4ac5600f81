import { readFileSync } from 'node:fs';
import type { Database } from '../../src/database/database.js';
import type { Statement } from '../../src/database/statement.js';
import { claimForWorkers } from '../../src/queue/workers/queries/claim-for-workers.js';
import { claim, claimSuspect } from '../../src/queue/runs/queries/claim.js';
import { rescue, rescueFromWorkers } from '../../src/queue/runs/queries/rescue.js';
import { submitStarted } from '../../src/queue/submit/queries/submit-started.js';
import * as leases from '../../src/queue/workers/queries/worker-leases.js';
import { requestErrors } from '../../src/queue/request-errors.js';
import { registerHook } from '../../src/queue/transition-hooks.js';
import { outbox } from '../../src/webhooks/outbox.js';

for (const hook of outbox) registerHook(hook);

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const lease = { id, token: id, keyId: id };
const start = { modelId: 'a/model', timeoutMs: 1_000, floor: null, byMs: 0 };
const ofNode = { ...start, nodeId: id, slotRound: 0 };
const submission = {
  id,
  keyId: id,
  modelId: 'a/model',
  priority: 0,
  virtualStart: 0,
  input: Buffer.from('{}'),
  expiresMs: null,
};
const workerSlots = [{ workerId: id, claimId: id, claimHash: Buffer.alloc(1), token: id }];
const bounded = { isBounded: true, isReserved: false };
const terms = {
  lostLimit: 2,
  lost: requestErrors.nodeLost(0),
  cancelled: requestErrors.cancelled(0),
  nowMs: 0,
};

/** Returns the texts that the calls send, by the names of the statements. */
async function textsOf(calls: (database: Database) => Promise<unknown>[]): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  const query = ({ name, text }: Statement): Promise<object[]> => {
    texts[name] = inOneLine(text);
    return Promise.resolve([{}]);
  };
  const atomically = async (...all: [Statement, unknown[]][]): Promise<object[]> => {
    for (const [statement] of all) await query(statement);
    return [];
  };
  await Promise.all(calls({ query, atomically } as unknown as Database));
  return texts;
}

const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

test('the lease statements match claim-statements.sql', async () => {
  const texts = await textsOf((database) => [
    submitStarted(database, submission, ofNode),
    claim(database, { ...ofNode, limit: 1 }),
    claim(database, { ...ofNode, limit: 1, lowestPriority: 0 }),
    claimForWorkers(database, { ...start, slots: workerSlots, ...bounded, groupId: null }),
    claimForWorkers(database, { ...start, slots: workerSlots, ...bounded, groupId: 'gpu-0' }),
    claimSuspect(database, ofNode, 'http://gpu', []),
    rescue(database, { ...terms, nodeId: id, lostAfterMs: 6_000 }),
    rescueFromWorkers(database, terms),
    leases.renewLeases(database, [lease]),
    leases.findLeases(database, [lease]),
    leases.findClaims(database, [id]),
    leases.findOverdue(database),
    leases.findLeasesOf(database, id),
    leases.findUnread(database, [{ token: id, handed: 1 }]),
    leases.endOf(database, lease),
  ]);
  const file = readFileSync(new URL('claim-statements.sql', import.meta.url), 'utf8');
  const written = [...file.matchAll(/^-- (\w+)\n(.*?);$/gms)].map(([, name, text]) => [
    name,
    inOneLine(text!),
  ]);
  expect(texts).toEqual(Object.fromEntries(written));
});
