import type { Statement } from '../../database/statement.js';
import { defaultKey } from '../default-share.js';

/** Finds rows by their key, even under a plan made while the table was empty, which would rather join them. */
const upsert = (
  first: number,
  condition = 'true',
): string => `INSERT INTO limit_share (subject, route_class, policy, holder_id, shares, used)
  SELECT subject, route_class, policy, $1::uuid, shares::integer[], used::integer[]
  FROM unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::text[], $${first + 3}::text[], $${first + 4}::text[])
    AS row (subject, route_class, policy, shares, used)
  WHERE ${condition}
  ON CONFLICT (subject, route_class, policy, holder_id) DO UPDATE
  SET shares = excluded.shares, used = excluded.used`;

/*
 * Purpose: writes behind what a holder used and gives back, records its beat, ends silent holders, and reads what the
 *   holder must know of the others.
 * Race: only the holder writes its rows, one statement at a time. A statement that it took for lost and that runs late
 *   has no newer number, and changes nothing. A silent holder that beats at the same moment keeps its row, because its
 *   beat is compared once the row is locked. One that comes back later finds its row gone.
 * Durability: the commit is waited for, once a second. A crash that lost the last use or beat would let the other nodes
 *   admit too much.
 * Index: limit_share_pkey, limit_holder_pkey, limit_ask_pkey.
 */
export const writeStatement: Statement = {
  name: 'write_shares',
  text: `WITH beaten AS (
  UPDATE limit_holder
  SET beat = $2::bigint
  WHERE id = $1::uuid
    AND beat < $2::bigint
  RETURNING id
), written AS (
  ${upsert(3, 'EXISTS (SELECT FROM beaten)')}
), forgotten AS (
  DELETE FROM limit_share
  WHERE ctid = ANY (ARRAY (
      SELECT found.ctid
      FROM unnest($8::text[], $9::text[], $10::text[]) AS key (subject, route_class, policy)
      CROSS JOIN LATERAL (
        SELECT ctid
        FROM limit_share
        WHERE limit_share.subject = key.subject
          AND limit_share.route_class = key.route_class
          AND limit_share.policy = key.policy
          AND limit_share.holder_id = $1::uuid
        LIMIT 1
      ) AS found
    ))
    AND EXISTS (SELECT FROM beaten)
), ended AS (
  DELETE FROM limit_holder
  WHERE id IN (
    SELECT limit_holder.id
    FROM unnest($11::uuid[], $12::bigint[]) AS silent (id, beat)
    JOIN limit_holder ON limit_holder.id = silent.id AND limit_holder.beat = silent.beat
    FOR UPDATE OF limit_holder SKIP LOCKED
  )
    AND EXISTS (SELECT FROM beaten)
  RETURNING id
), asked AS (
  DELETE FROM limit_ask
  WHERE holder_id = $1::uuid
    AND EXISTS (SELECT FROM beaten)
  RETURNING subject, route_class, policy
)
SELECT EXISTS (SELECT FROM beaten) AS "isKnown",
       coalesce((SELECT json_agg(json_build_object('id', id, 'beat', beat))
                 FROM limit_holder
                 WHERE id <> $1::uuid AND id NOT IN (SELECT id FROM ended)), '[]') AS holders,
       coalesce((SELECT json_agg(json_build_object('subject', subject, 'routeClass', route_class, 'policy', policy))
                 FROM asked), '[]') AS asked`,
};

/*
 * Purpose: leaves only those rows of a stopping holder that show what it used.
 * Race: the holder has admitted its last call before. From here on its row is gone.
 * Index: limit_share_pkey for the rows that stay. The others are found by reading the table, once per stop.
 */
export const leaveStatement: Statement = {
  name: 'leave_shares',
  text: `WITH gone AS (
  DELETE FROM limit_holder
  WHERE id = $1::uuid
), removed AS (
  DELETE FROM limit_ask
  WHERE holder_id = $1::uuid
), unused AS (
  DELETE FROM limit_share
  WHERE holder_id = $1::uuid
    AND (subject, route_class, policy) NOT IN (SELECT * FROM unnest($2::text[], $3::text[], $4::text[]))
)
${upsert(2)}`,
};

/**
 * Runs before a holder is registered or gets a default share. What the next statement sees stays true until the commit.
 */
export const lockHolders: Statement = {
  name: 'lock_holders',
  text: `SELECT pg_advisory_xact_lock(hashtext('limit_holder'))`,
};

const goneHolders = `ARRAY (
         SELECT DISTINCT holder_id::text
         FROM limit_share
         WHERE holder_id NOT IN (SELECT id FROM limit_holder)
       )`;

/*
 * Purpose: makes a node known as a holder of shares, and reads which holders there are and which are gone.
 * Race: its id is new. Until this is committed, the holder is granted nothing, and no other gets a default share.
 * Index: limit_holder_pkey. The holders that are gone are found by reading limit_share, once per start.
 */
export const registerStatement: Statement = {
  name: 'register_holder',
  text: `WITH registered AS (
  INSERT INTO limit_holder (id)
  VALUES ($1::uuid)
)
SELECT coalesce((SELECT json_agg(json_build_object('id', id, 'beat', beat)) FROM limit_holder WHERE id <> $1::uuid), '[]')
         AS holders,
       ${goneHolders} AS gone`,
};

const { subject, routeClass, policy } = defaultKey;

/*
 * Purpose: gives a holder a default share if it is the only one and no gone holder left a share.
 * Race: a node that registers waits. What it is granted then is counted beside the default share.
 * Index: limit_share_pkey. What gone holders left is found by reading the table, when a node has become the only one.
 */
export const grantDefaultStatement: Statement = {
  name: 'grant_default',
  text: `WITH found AS MATERIALIZED (
  SELECT ${goneHolders} AS gone
), granted AS (
  INSERT INTO limit_share (subject, route_class, policy, holder_id, shares, used)
  SELECT '${subject}', '${routeClass}', '${policy}', id, '{}', '{}'
  FROM limit_holder
  WHERE id = $1::uuid
    AND NOT EXISTS (SELECT FROM limit_holder WHERE id <> $1::uuid)
    AND (SELECT cardinality(gone) FROM found) = 0
  ON CONFLICT (subject, route_class, policy, holder_id) DO UPDATE SET shares = excluded.shares
  RETURNING holder_id
)
SELECT EXISTS (SELECT FROM granted) AS "isGranted", gone
FROM found`,
};
