import type { Database } from '../../../database/database.js';
import { columnsOf, statement } from '../../../database/statement.js';
import type { SuspectPlace } from '../../circuits/addresses.js';

/**
 * A suspect waits in `delayed_entry`, where no claim of the queue sees it. While a node knows the suspect, it keeps the
 * entry from being due; otherwise the request joins its queue again after this time.
 */
export const parkedMs = 10_000;
const parked = `interval '${parkedMs / 1_000} seconds'`;

/** SQL: an entry is parked. It waits only until it may run without others. */
export const isParked = (entry: string): string => `${entry}.ready_at <= clock_timestamp() + ${parked}`;

/**
 * SQL: a run of another node may be at the address. A node with a quarantine of the address has none there but a
 * suspect.
 */
export const othersMayBeAt = (address: string, modelIds: string, nodeId: string): string => `EXISTS (
    SELECT FROM lease
    WHERE lease.model_id = ANY (${modelIds}) AND lease.node_id <> ${nodeId}
      AND NOT EXISTS (
        SELECT FROM quarantine WHERE quarantine.address = ${address} AND quarantine.node_id = lease.node_id
      )
  )`;

/** SQL: the requests of the CTE `from` are no suspects any more. */
export const acquit = (from: string): string =>
  `DELETE FROM suspect USING ${from} WHERE suspect.request_id = ${from}.id`;

/** The run of a request that broke. */
export interface BrokenRun {
  requestId: string;
  token: string;
  modelId: string;
  address: string;
}

/*
 * Purpose: finds out whether another run may have been at an address when a run there broke: one of another node, a
 *   suspect, or one that broke since this run began. Read only after a break.
 * Race: a run is marked before its lease is given up, so of two that break at once each sees the lease or the mark of
 *   the other.
 * Index: lease is scanned, it has a row per run in progress; lease_pkey; suspect has a row per suspect.
 */
const companyStatement = statement('has_company')`
SELECT ${othersMayBeAt('$2::text', '$3::text[]', '$4::uuid')} OR EXISTS (
  SELECT FROM suspect
  LEFT JOIN lease AS other ON other.request_id = suspect.request_id
  WHERE suspect.address = $2::text AND suspect.request_id <> $1::uuid
    AND (other.request_id IS NOT NULL OR suspect.since > own.started_at)
) AS "hasCompany"
FROM lease AS own
WHERE own.request_id = $1::uuid AND own.token = $5::uuid`;

/** Returns false for a run that holds no lease any more. */
export async function hasCompany(
  database: Database,
  { requestId, token, address }: BrokenRun,
  modelIds: readonly string[],
  nodeId: string,
): Promise<boolean> {
  const values = [requestId, address, modelIds, nodeId, token];
  const [row] = await database.query<{ hasCompany: boolean }>(companyStatement, values);
  return row?.hasCompany === true;
}

/*
 * Purpose: marks a request as a suspect. What its server may still do for the run is cancelled, not followed: the
 *   next run is to be alone.
 * Race: only the holder of the lease marks. Index: lease_pkey, suspect_pkey, followed_run_pkey.
 */
const markStatement = statement('mark_suspect')`WITH held AS MATERIALIZED (
  SELECT request_id FROM lease WHERE request_id = $1::uuid AND token = $2::uuid
), given_up AS (
  UPDATE followed_run SET is_given_up = true FROM held WHERE followed_run.request_id = held.request_id
)
INSERT INTO suspect (request_id, model_id, address)
SELECT request_id, $3::text, $4::text FROM held
ON CONFLICT (request_id) DO UPDATE SET address = excluded.address, since = excluded.since`;

export async function markSuspect(database: Database, run: BrokenRun): Promise<void> {
  const { requestId, token, modelId, address } = run;
  await database.query(markStatement, [requestId, token, modelId, address]);
}

/* Purpose: a request is no suspect any more. Race: none; only the node that ran it alone says so. Index: suspect_pkey. */
const acquitStatement = statement('acquit_suspect')`DELETE FROM suspect WHERE request_id = $1::uuid`;

export async function acquitSuspect(database: Database, requestId: string): Promise<void> {
  await database.query(acquitStatement, [requestId]);
}

/*
 * Purpose: lets all suspects of an address but one go back to their queues, because that one broke without others. It
 *   has the time of this break from now on.
 * Race: a suspect that starts at this moment continues; no other run is there. The promoter takes entries that are due.
 *   SKIP LOCKED leaves a suspect to the statement that locks it, and an entry to the node that claims, cancels or keeps
 *   it: what is kept once more is due within the time for which a suspect is parked.
 * Index: suspect has a row per suspect; request_pkey, delayed_entry_pkey by full key.
 */
const acquitOthersStatement = statement('acquit_other_suspects')`WITH acquitted AS (
  DELETE FROM suspect
  WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM suspect
    WHERE address = $1::text AND request_id <> $2::uuid FOR UPDATE SKIP LOCKED
  ))
  RETURNING request_id
), broken AS (
  UPDATE suspect SET since = clock_timestamp()
  WHERE ctid = ANY (ARRAY (SELECT ctid FROM suspect WHERE request_id = $2::uuid FOR UPDATE SKIP LOCKED))
), waiting AS MATERIALIZED (
  SELECT entry.ctid FROM acquitted
  JOIN recent_request AS request ON request.id = acquitted.request_id
  JOIN delayed_entry AS entry
    ON (entry.model_id, entry.priority, entry.virtual_start, entry.seq)
     = (request.model_id, request.priority, request.virtual_start, request.seq)
  WHERE ${isParked('entry')}
  FOR UPDATE OF entry SKIP LOCKED
)
UPDATE delayed_entry SET ready_at = clock_timestamp()
WHERE ctid = ANY (ARRAY (SELECT ctid FROM waiting))`;

export async function acquitOthers(database: Database, address: string, requestId: string): Promise<void> {
  await database.query(acquitOthersStatement, [address, requestId]);
}

/** A suspect. */
export interface Suspect {
  address: string;
  modelId: string;
  /** It may run on this node. */
  mayRun: boolean;
  isRunning: boolean;
  /** It may run now, if no other run is at its address. */
  isDue: boolean;
}

/*
 * Purpose: reads the suspects in the order in which they are to run, and keeps those parked that may run on this node.
 *   Those that no node keeps are due soon, and join their queues. Forgets suspects that have completed or are in their
 *   queues again.
 * Race: every node does this. SKIP LOCKED leaves an entry to the node that claims, cancels or keeps it, and a suspect
 *   to the statement that locks it. A suspect that is forgotten by mistake, because it broke again at this moment,
 *   joins its queue again.
 * Index: suspect has a row per suspect; request_pkey, delayed_entry_pkey by full key, model_pkey.
 */
const tendStatement = statement('tend_suspects')`WITH known AS MATERIALIZED (
  SELECT suspect.request_id, suspect.model_id, suspect.address, request.state, request.priority,
         request.virtual_start, request.seq, entry.ready_at,
         (suspect.address, suspect.model_id) IN (SELECT * FROM unnest($1::text[], $2::text[])) AS may_run
  FROM suspect
  LEFT JOIN recent_request AS request ON request.id = suspect.request_id
  LEFT JOIN delayed_entry AS entry
    ON (entry.model_id, entry.priority, entry.virtual_start, entry.seq)
     = (request.model_id, request.priority, request.virtual_start, request.seq)
), forgotten AS (
  DELETE FROM suspect
  WHERE ctid = ANY (ARRAY (
    SELECT suspect.ctid FROM known
    JOIN suspect USING (request_id)
    WHERE known.ready_at IS NULL AND known.state IS DISTINCT FROM 'IN_PROGRESS'
    FOR UPDATE OF suspect SKIP LOCKED
  ))
), expiring AS MATERIALIZED (
  SELECT entry.ctid FROM known
  JOIN delayed_entry AS entry
    ON (entry.model_id, entry.priority, entry.virtual_start, entry.seq)
     = (known.model_id, known.priority, known.virtual_start, known.seq)
  WHERE known.may_run AND entry.ready_at < clock_timestamp() + ${parked} / 2
  FOR UPDATE OF entry SKIP LOCKED
), kept AS (
  UPDATE delayed_entry SET ready_at = clock_timestamp() + ${parked}
  WHERE ctid = ANY (ARRAY (SELECT ctid FROM expiring))
)
SELECT address, known.model_id AS "modelId", may_run AS "mayRun", state = 'IN_PROGRESS' AS "isRunning",
       coalesce(${isParked('known')}, false) AND model.paused IS NULL AS "isDue"
FROM known
LEFT JOIN model ON model.id = known.model_id
WHERE state = 'IN_PROGRESS' OR ready_at IS NOT NULL
ORDER BY priority, virtual_start, seq`;

/** `places`: where this node may run suspects. */
export function tendSuspects(database: Database, places: readonly SuspectPlace[]): Promise<Suspect[]> {
  return database.query<Suspect>(tendStatement, columnsOf(places, 'address', 'modelId'));
}

/** A suspect stays at an address that is away for this time: its server may only restart. */
const patience = `interval '1 minute'`;

/*
 * Purpose: sends the suspects of a model at one address to another, because the first stays away.
 * Race: every node may do this. A suspect that is moved has the time of that, so nodes that reach different addresses
 *   do not move it to and fro. One that starts at this moment runs where it was claimed; its end writes its address or
 *   deletes it. Index: suspect has a row per suspect; lease_pkey.
 */
const moveStatement = statement('move_suspects')`
UPDATE suspect SET address = $3::text, since = clock_timestamp()
WHERE ctid = ANY (ARRAY (
  SELECT ctid FROM suspect
  WHERE model_id = $1::text AND address = $2::text AND since < clock_timestamp() - ${patience}
    AND NOT EXISTS (SELECT FROM lease WHERE lease.request_id = suspect.request_id)
  FOR UPDATE SKIP LOCKED
))
RETURNING 1`;

/** Returns false if it moves none, because their break was less than a minute ago. */
export async function moveSuspects(
  database: Database,
  modelId: string,
  from: string,
  to: string,
): Promise<boolean> {
  return (await database.query(moveStatement, [modelId, from, to])).length > 0;
}

/*
 * Purpose: says to which addresses this node sends nothing but suspects, and has no other run there.
 * Race: a node writes only its own rows, after it has stopped to send runs, and before it begins again. A node that
 *   was given up writes none: its row is locked, or not found.
 * Index: quarantine_pkey, node_pkey.
 */
const quarantineStatement = statement('write_quarantine')`WITH here AS MATERIALIZED (
  SELECT id FROM node WHERE id = $1::uuid FOR KEY SHARE
), over AS (
  DELETE FROM quarantine WHERE node_id = $1::uuid AND address <> ALL ($2::text[])
)
INSERT INTO quarantine (address, node_id)
SELECT unnest($2::text[]), id FROM here
ON CONFLICT DO NOTHING`;

export async function writeQuarantine(
  database: Database,
  nodeId: string,
  addresses: readonly string[],
): Promise<void> {
  await database.query(quarantineStatement, [nodeId, addresses]);
}
