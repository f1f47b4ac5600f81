import { statementOfDays } from '../../../database/days.js';
import type { Queries } from '../../../database/statement.js';
import { errorCode, errorStatus } from '../../reads/request-columns.js';
import { columnOf, erasedOptions } from '../../submit/submission-options.js';

/*
 * Purpose: erases the content of a completed request in one commit. The row stays, with how it ended. The content is
 *   not read, so it does not matter what it is.
 * Race: against a retry, which locks the row too: it copies the input before this, or finds none. Only the pruner
 *   also changes completed rows, and it waits. The content of a request in any other table belongs here, too. A
 *   webhook's try that ends later finds is_erased. A batch that has its line in a file finds it among erased_line: FOR
 *   KEY SHARE waits for a deletion of the batch, and then finds none; a deletion waits for this, and then finds the row.
 * Index: request_pkey, request_event_pkey and attempt_pkey, each in the partition of its day; output_delta_pkey in
 *   all; webhook_delivery_pkey, file_use_pkey, batch_pkey.
 */
const eraseStatement = statementOfDays(
  'erase',
  (within) => `WITH erased AS (
  UPDATE request
  SET input = NULL,
      output = NULL,
      ${erasedOptions.map((option) => `${columnOf(option)} = NULL`).join(',\n      ')},
      error = CASE WHEN error IS NOT NULL THEN json_build_object(
        'code', ${errorCode}, 'status', ${errorStatus}, 'message', 'What was said of it was erased.',
        'timestamp', to_char(completed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      ) END,
      erased_at = clock_timestamp()
  WHERE id = $1::uuid AND ${within('id')} AND state = 'COMPLETED' AND erased_at IS NULL
  RETURNING id, api_key_id, tags
), logs AS (
  UPDATE request_event SET message = NULL, level = NULL, source = NULL
  WHERE request_id = $1::uuid AND ${within('request_id')} AND message IS NOT NULL AND EXISTS (SELECT FROM erased)
), failures AS (
  UPDATE attempt SET error_message = NULL
  WHERE request_id = $1::uuid AND ${within('request_id')} AND error_message IS NOT NULL AND EXISTS (SELECT FROM erased)
), deltas AS (
  DELETE FROM output_delta
  WHERE request_id = $1::uuid AND EXISTS (SELECT FROM erased)
), webhook_bodies AS (
  UPDATE webhook_delivery
  SET is_erased = true, content = NULL, tries = ARRAY(SELECT entry || '{"body": null}' FROM unnest(tries) AS entry)
  WHERE request_id = $1::uuid AND EXISTS (SELECT FROM erased)
), files AS (
  UPDATE file_use SET is_over = true
  WHERE request_id = $1::uuid AND NOT is_over AND EXISTS (SELECT FROM erased)
), lines AS (
  INSERT INTO erased_line (batch_id, request_id)
  SELECT batch.id, erased.id FROM erased
  CROSS JOIN unnest(erased.tags) AS own (tag)
  JOIN batch ON batch.api_key_id = erased.api_key_id
    AND batch.id = CASE WHEN own.tag ~ '^batch:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN substr(own.tag, 7)::uuid END
  FOR KEY SHARE OF batch
  ON CONFLICT DO NOTHING
)
SELECT id FROM erased`,
);

/** Returns false if the request has not completed, or was erased before. */
export async function erase(database: Queries, requestId: string): Promise<boolean> {
  return (await database.query(eraseStatement(requestId), [requestId])).length > 0;
}
