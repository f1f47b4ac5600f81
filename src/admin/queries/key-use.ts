import type { ObservingDatabase } from '../../database/observing-database.js';

export interface KeyUse {
  id: string;
  waiting: number;
  running: number;
  requestsToday: number;
}

/**
 * What the requests of these keys do now, and how many there were since midnight in UTC; none is counted beyond 10,000.
 * Survives: any number of waiting requests, which are read once for all keys together.
 * Index: request_by_key for those of today; request_pkey for those that run. Of what waits there is none by key.
 */
export function readKeyUse(database: ObservingDatabase, ids: readonly string[]): Promise<KeyUse[]> {
  return database.query<KeyUse>(statement, [ids]);
}

const statement = {
  name: 'read_key_use',
  text: `
  WITH key AS (SELECT unnest($1::uuid[]) AS id),
  waiting AS (
    SELECT api_key_id, count(*) AS entries
    FROM (SELECT api_key_id FROM queue_entry WHERE api_key_id = ANY ($1::uuid[])
          UNION ALL
          SELECT api_key_id FROM delayed_entry WHERE api_key_id = ANY ($1::uuid[])) AS entry
    GROUP BY api_key_id
  ),
  running AS (
    SELECT request.api_key_id, count(*) AS leases
    FROM lease
    JOIN request ON request.id = lease.request_id
    GROUP BY request.api_key_id
  )
  SELECT key.id,
         least(coalesce(entries, 0), 10000)::integer AS waiting,
         coalesce(leases, 0)::integer AS running,
         (SELECT count(*)::integer
          FROM (SELECT FROM request
                WHERE api_key_id = key.id AND id >= uuid_at(date_trunc('day', now(), 'UTC'))
                LIMIT 10000) AS today) AS "requestsToday"
  FROM key
  LEFT JOIN waiting ON waiting.api_key_id = key.id
  LEFT JOIN running ON running.api_key_id = key.id`,
};
