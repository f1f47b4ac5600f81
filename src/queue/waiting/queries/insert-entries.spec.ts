import type { Database } from '../../../database/database.js';
import type { Statement } from '../../../database/statement.js';
import { promote } from './promote.js';
import { recall } from './recall.js';
import { release } from './release.js';
import { requeue } from '../../runs/queries/requeue.js';
import { retry } from '../../submit/queries/retry.js';
import type { Submission } from '../../submit/queries/submission.js';
import { submitOnce } from '../../submit/queries/submit-once.js';
import { submit } from '../../submit/queries/submit.js';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const submission: Submission = {
  id,
  modelId: 'a/model',
  keyId: id,
  priority: 0,
  virtualStart: 0,
  input: Buffer.from('{}'),
  expiresMs: null,
};
const once = { ...submission, idempotency: { key: 'once', fingerprint: Buffer.alloc(32) } };
const again = {
  id,
  originalId: id,
  maxExpiresMs: null,
  maxTimeoutMs: 1,
  priority: 0,
  virtualStart: 0,
  isBounded: false,
};
const token = id;

const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Returns what the last statement of the call inserts into `queue_entry` and `delayed_entry`. */
async function insertsOf(call: (database: Database) => Promise<unknown>): Promise<string[]> {
  let text = '';
  const query = (statement: Statement): Promise<object[]> => {
    text = statement.text;
    return Promise.resolve([{ id, seq: 1 }]);
  };
  const atomically = (...all: [Statement, unknown[]][]): Promise<object[]> => query(all.at(-1)![0]);
  await call({ query, atomically } as unknown as Database);
  return inOneLine(text).match(/INSERT INTO (queue|delayed)_entry .*?(?= \))/g) ?? [];
}

const ofNew = [
  `INSERT INTO queue_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, expires_at)
   SELECT model_id, priority, virtual_start, seq, id, api_key_id, expires_at
   FROM written
   WHERE not_before IS NULL`,
  `INSERT INTO delayed_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, expires_at, ready_at,
                              is_scheduled)
   SELECT model_id, priority, virtual_start, seq, id, api_key_id, expires_at, not_before, true
   FROM written
   WHERE not_before IS NOT NULL`,
];
const ofNewOrParked = (isBounded: string): string[] => [
  `INSERT INTO queue_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, expires_at)
   SELECT model_id, priority, virtual_start, seq, id, api_key_id, expires_at
   FROM written
   WHERE not_before IS NULL AND (${isBounded}) IS NOT TRUE`,
  `INSERT INTO delayed_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, expires_at,
                              bounded_key_id, ready_at, is_scheduled)
   SELECT model_id, priority, virtual_start, seq, id, api_key_id, expires_at,
          CASE WHEN not_before IS NULL THEN api_key_id END, coalesce(not_before, 'infinity'), not_before IS NOT NULL
   FROM written
   WHERE not_before IS NOT NULL OR (${isBounded}) IS TRUE`,
];

/* Written out, so that a change of the list of columns shows what it does to each statement. */
it.each<[string, (database: Database) => Promise<unknown>, string[]]>([
  ['submit', (database) => submit(database, [submission]), ofNew],
  [
    'submit once',
    (database) => submitOnce(database, [once]),
    ofNewOrParked('id IN (SELECT unnest($15::uuid[]))'),
  ],
  ['retry', (database) => retry(database, id, again), ofNewOrParked('$7::boolean')],
  [
    'requeue',
    (database) => requeue(database, { requestId: id, token, attemptOutcome: 'failed', delayMs: 0 }),
    [
      `INSERT INTO queue_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at,
                                bounded_key_id)
       SELECT model_id, priority, virtual_start, seq, id, api_key_id, attempt, expires_at, bounded_key_id
       FROM returned
       WHERE $4::float8 <= 0`,
      `INSERT INTO delayed_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at,
                                  bounded_key_id, ready_at)
       SELECT model_id, priority, virtual_start, seq, id, api_key_id, attempt, expires_at, bounded_key_id,
              ended_at + $4::float8 * interval '1 millisecond'
       FROM returned
       WHERE $4::float8 > 0`,
    ],
  ],
  [
    'promote',
    (database) => promote(database, []),
    [
      `INSERT INTO queue_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at,
                                bounded_key_id)
       SELECT model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at, bounded_key_id
       FROM promoted
       WHERE NOT is_held`,
      `INSERT INTO delayed_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at,
                                  bounded_key_id, ready_at)
       SELECT model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at, api_key_id, 'infinity'
       FROM promoted
       WHERE is_held`,
    ],
  ],
  [
    'recall',
    (database) => recall(database, id),
    [
      `INSERT INTO delayed_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at,
                                  bounded_key_id, ready_at)
       SELECT model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at, api_key_id, 'infinity'
       FROM moved`,
    ],
  ],
  [
    'release',
    (database) => release(database, { keyId: id, modelId: 'a/model' }),
    [
      `INSERT INTO delayed_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at,
                                  bounded_key_id, ready_at)
       SELECT model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at, bounded_key_id,
              'infinity'
       FROM taken_back`,
      `INSERT INTO queue_entry (model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at,
                                bounded_key_id)
       SELECT model_id, priority, virtual_start, seq, request_id, api_key_id, attempt, expires_at,
              CASE WHEN (SELECT is_bounded FROM held_queue) THEN bounded_key_id END
       FROM let_in`,
    ],
  ],
])('writes entries with one list of columns: %s', async (_name, call, inserts) => {
  expect(await insertsOf(call)).toEqual(inserts.map(inOneLine));
});
