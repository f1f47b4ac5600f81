import { randomUUID } from 'node:crypto';
import type { Database } from '../../../database/database.js';
import { type Statement, statement } from '../../../database/statement.js';
import type { StartedRequest } from '../../request-events.js';
import { runOptionColumns, runOptionFields, type RunOptions } from '../../submit/submission-options.js';
import { isParked, othersMayBeAt } from '../../suspects/queries/suspects.js';
import { hookTexts, isHooked } from '../../transition-hooks.js';
import type { EntryChange, QueueKey } from '../../waiting/waiting-index.js';

export type ClaimFloor = Omit<QueueKey, 'modelId'>;

export interface ClaimTerms {
  /** The timeout of the model. */
  timeoutMs: number;
  /** Entries before this key are skipped; null: the claim starts at the very front. */
  floor: ClaimFloor | null;
  /** The claim must reach the database by then, in milliseconds since 1970 by the database's clock. */
  byMs: number;
}

export interface StartOptions extends ClaimTerms {
  nodeId: string;
  /** The round of the slots that it takes. */
  slotRound: number;
}

export interface ClaimOptions extends StartOptions {
  modelId: string;
  limit: number;
  /** Only requests of this priority or above are taken; undefined: all. */
  lowestPriority?: number | undefined;
}

export interface Claimed extends RunOptions {
  id: string;
  priority: number;
  /** Its virtual start. */
  start: number;
  seq: number;
  /**
   * The token of its lease. The requests of one claim share it, and no two leases of one request ever have the same
   * token.
   */
  token: string;
  attempt: number;
  failedAttempts: number;
  lostAttempts: number;
  /** The key whose bound it counts against; null: the key has no bound. */
  boundedKeyId: string | null;
  /** null: the model's timeout holds. */
  timeoutMs: number | null;
  /** Milliseconds that it waited since it could have started. */
  queueMs: number;
  input: string;
}

/** The floor of a claim that starts at the very front. */
export const veryFront: ClaimFloor = { priority: -32_768, start: 0, seq: 0 };

/*
 * Purpose: takes the first waiting requests of the model $1 out of the queue and starts them. This is the part that the
 *   claims of nodes and of workers share; each then writes its leases in the same statement.
 * Race: many claim at once, and cancels delete entries. SKIP LOCKED passes over rows that others lock, DELETE hands
 *   an entry out once, and the request moves only from IN_QUEUE. MATERIALIZED: the LIMIT runs once, before any
 *   DELETE. A claim that the network held back until nothing waits for its answer takes nothing.
 * Index: queue_entry_pkey, whose order is the ORDER BY, so the cost does not depend on the depth. The locked rows are
 *   deleted by one scan of their ctids, which cannot change any more. Then request_pkey by id. The floor steps over
 *   dead index entries that an old snapshot keeps from vacuum. Expired entries are left to the expirer.
 */
export const startFirst =
  (
    sql: Record<'floor' | 'condition' | 'byMs' | 'limit', string> & { returning: () => string },
    table: 'queue_entry' | 'delayed_entry' = 'queue_entry',
  ) =>
  (): string => `due AS MATERIALIZED (
  SELECT ctid FROM ${table}
  WHERE model_id = $1::text
    AND (priority, virtual_start, seq) >= (${sql.floor})
    AND (expires_at IS NULL OR expires_at > now())
    AND ${sql.condition}
    AND now() < to_timestamp(${sql.byMs} / 1000)
  ORDER BY priority, virtual_start, seq LIMIT ${sql.limit} FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM ${table}
  WHERE ctid = ANY (ARRAY (SELECT ctid FROM due))
  RETURNING request_id, bounded_key_id
), started AS (
  UPDATE recent_request AS request
  SET state = 'IN_PROGRESS', attempt = attempt + 1, started_at = clock_timestamp()
  FROM taken
  WHERE request.id = taken.request_id AND request.state = 'IN_QUEUE'
  RETURNING ${sql.returning()}
)`;

/**
 * SQL: nothing starts on a node that was given up or is drained, of a paused model, or by a grant from before slots
 * were taken away. Index: node_pkey, model_pkey.
 */
export const mayStart = (modelId: string, nodeId: string, slotRound: string): string =>
  `EXISTS (SELECT FROM node WHERE node.id = ${nodeId} AND node.draining_since IS NULL)
    AND NOT EXISTS (
      SELECT FROM model WHERE model.id = ${modelId} AND (paused IS NOT NULL OR slot_round <> ${slotRound})
    )`;

const forHooks = (): string =>
  isHooked('request.started') ? ', request.api_key_id, request.webhook_url' : '';

/** `table`: where the requests wait; `condition`: SQL that further restricts what is claimed, beginning with AND. */
const claimOfNode = (name: string, condition = '', table?: 'delayed_entry'): Statement =>
  statement(name)`WITH ${startFirst(
    {
      floor: '$5::smallint, $6::bigint, $7::bigint',
      condition: `${mayStart('$1::text', '$3::uuid', '$10::integer')}${condition}`,
      byMs: '$8::float8',
      limit: '$2::integer',
      returning: () => `request.id, request.priority, request.virtual_start, request.seq, request.attempt,
            request.failed_attempts, request.lost_attempts, request.timeout_ms, request.input, request.started_at,
            ${runOptionColumns('request.')},
            greatest(request.created_at, request.not_before) AS waits_since, taken.bounded_key_id${forHooks()}`,
    },
    table,
  )}, leased AS (
  INSERT INTO lease (request_id, token, model_id, node_id, attempt, started_at, deadline_at, bounded_key_id)
  SELECT id, $9::uuid, $1::text, $3::uuid, attempt, started_at,
         started_at + coalesce(timeout_ms, $4::float8) * interval '1 millisecond', bounded_key_id
  FROM started
)${hookTexts('request.started', 'started')}
SELECT id, priority, virtual_start AS start, seq, attempt, failed_attempts AS "failedAttempts",
       lost_attempts AS "lostAttempts", bounded_key_id AS "boundedKeyId", timeout_ms AS "timeoutMs",
       ${runOptionFields()}, input::text AS input,
       extract(epoch FROM started_at - waits_since)::float8 * 1000 AS "queueMs"
FROM started`;

/* Purpose: claims for slots of a node. All leases of one claim have its token. Race, index: those of `startFirst`. */
const claimStatement = claimOfNode('claim');
/* Purpose: claims for the reserved slots of a node. */
const claimReservedStatement = claimOfNode('claim_reserved', '\n    AND priority <= $11::smallint');

export async function claim(database: Database, options: ClaimOptions): Promise<Claimed[]> {
  const { values, token } = claimValues(options);
  const { lowestPriority } = options;
  return withToken(
    await (lowestPriority === undefined
      ? database.query<Tokenless>(claimStatement, values)
      : database.query<Tokenless>(claimReservedStatement, [...values, lowestPriority])),
    token,
  );
}

/*
 * Purpose: claims the first suspect of a model to run alone at an address.
 * Race: two nodes at once. A lock of the address, in the statement before, keeps the second from its snapshot until
 *   the first has committed; it then finds the lease of that suspect. A node that does not know of the quarantine
 *   yet may still begin a run: if either run then breaks, no request is charged.
 * Index: those of `startFirst`, with delayed_entry_pkey; suspect has a row per suspect; lease has one per run.
 */
const claimSuspectStatement = claimOfNode(
  'claim_suspect',
  `
    AND NOT is_scheduled AND ${isParked('delayed_entry')}
    AND request_id IN (SELECT request_id FROM suspect WHERE address = $11::text)
    AND NOT EXISTS (SELECT FROM suspect JOIN lease USING (request_id) WHERE suspect.address = $11::text)
    AND NOT ${othersMayBeAt('$11::text', '$12::text[]', '$3::uuid')}`,
  'delayed_entry',
);

const lockAddress = statement('lock_address')`SELECT pg_advisory_xact_lock(hashtextextended($1::text, 22))`;

/** `modelIds`: the models that send runs to the address. */
export async function claimSuspect(
  database: Database,
  options: Omit<ClaimOptions, 'limit' | 'floor'>,
  address: string,
  modelIds: readonly string[],
): Promise<Claimed[]> {
  const { values, token } = claimValues({ ...options, limit: 1, floor: null });
  return withToken(
    await database.atomically<Tokenless>(
      [lockAddress, [address]],
      [claimSuspectStatement, [...values, address, modelIds]],
    ),
    token,
  );
}

function claimValues(options: ClaimOptions): { values: unknown[]; token: string } {
  const { modelId, nodeId, limit, timeoutMs, floor, slotRound, byMs } = options;
  const token = randomUUID();
  const { priority, start, seq } = floor ?? veryFront;
  return {
    values: [modelId, limit, nodeId, timeoutMs, priority, start, seq, byMs, token, slotRound],
    token,
  };
}

type Tokenless = Omit<Claimed, 'token'>;

const withToken = (claimed: Tokenless[], token: string): Claimed[] =>
  inOrder(claimed).map((one) => Object.assign(one, { token }));

/** Sorts the requests of a claim by their queue keys, because its rows come in any order. */
export const inOrder = <One extends ClaimFloor>(claimed: One[]): One[] =>
  claimed.sort((a, b) => a.priority - b.priority || a.start - b.start || a.seq - b.seq);

/** Returns the entries that left the queue, as they were there. */
export const entriesOf = (
  modelId: string,
  claimed: readonly Pick<Claimed, 'priority' | 'start' | 'seq' | 'attempt'>[],
): EntryChange[] =>
  claimed.map(({ priority, start, seq, attempt }) => ({
    modelId,
    priority,
    start,
    seq,
    attempt: attempt - 1,
  }));

/** Returns what is published of a request that has started. */
export const startedOf = (
  modelId: string,
  claimed: Pick<Claimed, 'id' | 'attempt' | 'failedAttempts' | 'lostAttempts' | 'queueMs'>,
): StartedRequest => ({
  id: claimed.id,
  modelId,
  attempt: claimed.failedAttempts + claimed.lostAttempts + 1,
  queueMs: claimed.attempt === 1 ? claimed.queueMs : undefined,
});
