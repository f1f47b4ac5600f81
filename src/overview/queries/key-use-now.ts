import type { ObservingDatabase } from '../../database/observing-database.js';

export interface KeyUseNow {
  id: string;
  waiting: number;
  running: number;
  requestsToday: number;
  requestsLast30Days: number;
}

/**
 * Returns the requests of these keys: how many wait and run now, and how many were submitted on this day in UTC and in
 * 30 days. At most 10,000 waiting requests of a key are shown. Race: none (read only). Any number of waiting requests
 * is read once for all keys together. Index: key_use_pkey; request_pkey for those that run. There is none by key for
 * those that wait.
 */
export function readKeyUse(database: ObservingDatabase, ids: readonly string[]): Promise<KeyUseNow[]> {
  return database.query<KeyUseNow>(statement, [ids]);
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
    JOIN recent_request AS request ON request.id = lease.request_id
    GROUP BY request.api_key_id
  ),
  used AS (
    SELECT api_key_id, sum(submitted) FILTER (WHERE day = clock.today) AS today, sum(submitted) AS of_days
    FROM key_use, (SELECT (now() AT TIME ZONE 'UTC')::date AS today) AS clock
    WHERE api_key_id = ANY ($1::uuid[]) AND day > clock.today - 30
    GROUP BY api_key_id
  )
  SELECT key.id,
         least(coalesce(entries, 0), 10000)::integer AS waiting,
         coalesce(leases, 0)::integer AS running,
         coalesce(today, 0)::float8 AS "requestsToday",
         coalesce(of_days, 0)::float8 AS "requestsLast30Days"
  FROM key
  LEFT JOIN waiting ON waiting.api_key_id = key.id
  LEFT JOIN running ON running.api_key_id = key.id
  LEFT JOIN used ON used.api_key_id = key.id`,
};
