import { uuidArray } from '../../database/binary-array.js';
import type { Database } from '../../database/database.js';
import { bySpan, statementOfDays } from '../../database/days.js';
import { statement } from '../../database/statement.js';

interface Place {
  requestId: string;
  id: string;
}

const first: Place = {
  requestId: '00000000-0000-0000-0000-000000000000',
  id: '00000000-0000-0000-0000-000000000000',
};

/*
 * Purpose: reads deliveries of requests beyond retention, the oldest first, some at a time.
 * Race: none: requests that old get no new deliveries.
 * Index: webhook_delivery_pkey from one place on.
 */
const oldStatement = statement('old_deliveries')`SELECT request_id AS "requestId", id FROM webhook_delivery
WHERE (request_id, id) > ($1::uuid, $2::uuid)
  AND request_id < uuid_at(greatest('epoch', now() - $3::float8 * interval '1 millisecond'))
ORDER BY request_id, id LIMIT 1000`;

/*
 * Purpose: deletes those of some deliveries whose requests or batches retention has deleted.
 * Race: no delivery is made for a request that is gone. A delivery that is being tried finds no row to write to.
 * Index: webhook_delivery_pkey; request_pkey, in the days of the requests; batch_pkey.
 */
const pruneStatement = statementOfDays(
  'prune_deliveries',
  (within) => `DELETE FROM webhook_delivery AS delivery
USING unnest($1::uuid[], $2::uuid[]) AS old (request_id, id)
LEFT JOIN LATERAL (
  SELECT id FROM request WHERE request.id = old.request_id AND ${within('request.id')} LIMIT 1
) AS request ON true
LEFT JOIN batch ON batch.id = old.request_id
WHERE delivery.request_id = old.request_id AND delivery.id = old.id AND request.id IS NULL AND batch.id IS NULL`,
);

/** Deletes all of them. */
export async function pruneDeliveries(database: Database, retentionMs: number): Promise<void> {
  for (let after: Place | undefined = first; after !== undefined;) {
    const old: Place[] = await database.query<Place>(oldStatement, [after.requestId, after.id, retentionMs]);
    for (const some of bySpan(old, (place) => place.requestId)) {
      const requestIds = some.map(({ requestId }) => requestId);
      await database.query(pruneStatement(...requestIds), [
        uuidArray(requestIds),
        uuidArray(some.map(({ id }) => id)),
      ]);
    }
    after = old.at(-1);
  }
}

/*
 * Purpose: deletes the hourly results of receivers after some days.
 * Race: none, because hours that old are not written any more.
 * Index: receiver_activity_by_hour.
 */
const pruneHours = statement('prune_receiver_activity')`DELETE FROM receiver_activity
WHERE hour < now() - interval '8 days'`;

export async function pruneReceiverActivity(database: Database): Promise<void> {
  await database.query(pruneHours);
}
