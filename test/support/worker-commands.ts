import { randomUUID } from 'node:crypto';
import type fc from 'fast-check';
import type { Database } from '../../src/database/database.js';
import { findClaims } from '../../src/queue/workers/queries/worker-leases.js';
import type { QueueTables } from './queue-tables.js';
import { lostLimit, type ModelRequest, type QueueModel } from './state-model.js';
import { claimAs, knownOf, newClaimId, rescueFrom } from './worker-steps.js';

/** Two nodes that run requests, and two workers. A lost one is replaced. */
export type World = { nodes: string[]; workers: string[] };
export type Command = fc.AsyncCommand<QueueModel, World>;

interface Steps {
  step(
    name: string,
    check: (model: QueueModel) => boolean,
    run: (model: QueueModel, world: World) => Promise<void>,
  ): Command;
  held(request: ModelRequest): { id: string; token: string };
  ids(requests: readonly { id: string }[]): string[];
  database(): Database;
  tables(): QueueTables;
}

/** The commands of workers; nodes have their own. */
export function workerCommands({ step, held, ids, database, tables }: Steps) {
  return {
    claim: (which: number, limit: number): Command =>
      step(
        `claim ${limit} by worker ${which}`,
        () => true,
        async (model, { workers }) => {
          const worker = workers[which]!;
          const expected = model.next(limit);
          const claimId = newClaimId();
          const claimed = await claimAs(database(), worker, limit, { claimId });
          expect(ids(claimed)).toEqual(ids(expected));
          const tokens = new Map(claimed.map(({ id, token }) => [id, token]));
          for (const request of expected) model.start(request, tokens.get(request.id)!, null, worker);
          // A repeated claim returns the same runs and no others.
          if (claimed.length > 0) expect(await claimAs(database(), worker, limit, { claimId })).toEqual([]);
          expect(ids(await findClaims(database(), [claimId]))).toEqual(ids(claimed));
        },
      ),

    lose: (which: number): Command =>
      step(
        `lose worker ${which}`,
        () => true,
        async (model, { workers }) => {
          const gone = workers[which]!;
          workers[which] = randomUUID();
          await tables().rows(
            `UPDATE lease SET expires_at = now() - interval '1 hour' WHERE worker_id = $1`,
            [gone],
          );
          const rescued = await rescueFrom(database(), lostLimit);
          const lost = model.lose(gone);
          expect(ids(rescued)).toEqual(ids(lost));
          const goOn = rescued.filter(({ outcome }) => outcome === null);
          expect(ids(goOn)).toEqual(ids(lost.filter(({ place }) => place === 'queue')));
        },
      ),

    renew: (): Command =>
      step(
        'renew what runs and what ran',
        (model) => model.at('lease').length > 0,
        async (model) => {
          const running = model.at('lease').filter(({ lease }) => lease!.worker !== null);
          const past = model.requests.flatMap(({ id, pastTokens }) =>
            pastTokens.map((token) => ({ id, token })),
          );
          const { renewed, found, ended } = await knownOf(database(), [...running.map(held), ...past]);
          expect([renewed, found]).toEqual([ids(running), ids(running)]);
          expect(ended.slice(0, running.length).every((one) => one === undefined)).toBe(true);
        },
      ),
  };
}
