import { epochMs } from '../../database/epoch-ms.js';

/**
 * SQL: since when the oldest request of each model waits. $1 to $4: the place of the oldest of each priority. If that
 * request has started since, the next one in the order counts. The scan of queue_entry_pkey begins at the place, so that
 * no dead entry before it is read.
 */
export const oldestWaiting = `SELECT place.model_id AS "modelId",
  min(${epochMs('greatest(request.created_at, request.not_before)')}) AS "sinceMs"
FROM unnest($1::text[], $2::smallint[], $3::bigint[], $4::bigint[]) AS place (model_id, priority, start, seq)
CROSS JOIN LATERAL (
  (SELECT entry.request_id FROM queue_entry AS entry
   WHERE entry.model_id = place.model_id AND entry.priority = place.priority
     AND (entry.virtual_start, entry.seq) >= (place.start, place.seq)
   ORDER BY entry.model_id, entry.priority, entry.virtual_start, entry.seq LIMIT 1)
  UNION ALL
  (SELECT entry.request_id FROM delayed_entry AS entry
   WHERE (entry.model_id, entry.priority, entry.virtual_start, entry.seq)
     = (place.model_id, place.priority, place.start, place.seq))
) AS first
JOIN recent_request AS request ON request.id = first.request_id
GROUP BY place.model_id`;
