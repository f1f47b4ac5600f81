import type { Statement } from '../../database/statement.js';
import { defaultDivisor, defaultKey } from '../default-share.js';

/*
 * Purpose: grants a node as much of each budget as it wants and no node holds. All shares of a budget therefore never
 *   add up to more than its limit.
 * Race: nodes that ask for the same budget. A first statement locks the budgets, in one order for all nodes, until the
 *   commit. The second then sees every share that was committed before. A budget that no node has seen has no row to
 *   lock, hence the advisory lock. A holder's own writes go on meanwhile, because they only make its shares smaller.
 *   All statements and the commit are one write to the socket. A process that freezes therefore holds no lock, unless
 *   the kernel had room for only a part. A grant that its holder took for lost and that runs late never makes its row
 *   smaller. Rows of gone holders change no more. `spent` deletes those that count for nothing in any window. Otherwise
 *   a budget would have a row for every node that crashed in the last hour.
 * Index: limit_share_pkey, by the budget; limit_holder_pkey.
 */
export const lockBudgets: Statement = {
  name: 'lock_budgets',
  text: `SELECT count(pg_advisory_xact_lock(number))
FROM (
  SELECT DISTINCT hashtextextended(concat_ws(' ', subject, route_class, policy), 0) AS number
  FROM unnest($1::text[], $2::text[], $3::text[]) AS budget (subject, route_class, policy)
  ORDER BY number
) AS budget`,
};

const isOf = (budget: string): string =>
  ['subject', 'route_class', 'policy'].map((column) => `other.${column} = ${budget}.${column}`).join(' AND ');

/** The part of a window's limit that a holder with a default share has at least. */
const defaultPart = `(limits[i] / ${defaultDivisor})`;

/**
 * Sums up what is held beside the share that the node knows of: the other nodes' shares, what a lost answer granted it,
 * and the default shares of others. A holder without a row in limit_holder may have used more than it wrote. The most
 * that it may have used is what the tightest window's share allows in 7 s. It may admit for 3 s after its last write.
 * Another 2 s are for a write that passed over a row with a grant under way, which `ShareDatabase` gives up after as
 * long. The rest is 1 s until the next write, and 1 s for what is not written until it is as much. A holder counts for
 * nothing in windows shorter than the time it has been gone.
 */
const heldBeside = `SELECT coalesce(sum(
         CASE
           WHEN other.holder_id = $1::uuid THEN greatest(0, other.shares[i] - held[i])
           WHEN holder.id IS NOT NULL THEN greatest(other.shares[i], default_part)
           WHEN gone.for_ms >= windows_ms[i] THEN 0
           WHEN i = 1 THEN greatest(other.shares[1], default_part)
           ELSE greatest(
             least(other.shares[i], other.used[i] + other.shares[1]::bigint * ceil(7000.0 / windows_ms[1])::integer),
             default_part
           )
         END
       ), 0)::bigint
FROM (
  SELECT holder_id, shares, used, CASE WHEN holder_id IN (SELECT holder_id FROM default_holder) THEN ${defaultPart} ELSE 0 END
           AS default_part
  FROM limit_share AS other
  WHERE ${isOf('asked')}
  UNION ALL
  SELECT holder_id, NULL, NULL, ${defaultPart}
  FROM default_holder
  WHERE NOT EXISTS (
    SELECT FROM limit_share AS other WHERE ${isOf('asked')} AND other.holder_id = default_holder.holder_id
  )
) AS other
LEFT JOIN limit_holder AS holder ON holder.id = other.holder_id
LEFT JOIN unnest($11::uuid[], $12::float8[]) AS gone (id, for_ms) ON gone.id = other.holder_id`;

export const grantStatement: Statement = {
  name: 'grant_shares',
  text: `WITH asked AS MATERIALIZED (
  SELECT subject, route_class, policy, limits::integer[], windows_ms::integer[], held::integer[], used::integer[],
         needed::integer[], wanted::integer[], number
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
              $10::text[]) WITH ORDINALITY
    AS asked (subject, route_class, policy, limits, windows_ms, held, used, needed, wanted, number)
), default_holder AS MATERIALIZED (
  SELECT holder_id
  FROM limit_share
  WHERE subject = '${defaultKey.subject}'
    AND route_class = '${defaultKey.routeClass}'
    AND policy = '${defaultKey.policy}'
    AND holder_id <> $1::uuid
), granted AS MATERIALIZED (
  SELECT asked.subject, asked.route_class, asked.policy, windows_ms, number, is_met, share.*
  FROM asked
  CROSS JOIN LATERAL (
    SELECT EXISTS (SELECT FROM default_holder)
             OR EXISTS (SELECT FROM limit_share AS other WHERE ${isOf('asked')}) AS is_met
    OFFSET 0 -- or it would be looked up anew wherever it stands
  ) AS before
  CROSS JOIN LATERAL (
    SELECT array_agg((held[i] + least(wanted[i], free))::integer ORDER BY i) AS shares,
           array_agg(least(used[i], held[i] + least(wanted[i], free))::integer ORDER BY i) AS used,
           array_agg((free - least(wanted[i], free))::integer ORDER BY i) AS unallocated,
           bool_or(needed[i] > free) AS is_short
    FROM (
      SELECT i, greatest(0, limits[i] - held[i] - CASE WHEN is_met THEN (${heldBeside}) ELSE 0 END) AS free
      FROM generate_subscripts(limits, 1) AS i
      ORDER BY i -- once for all three
    ) AS room
  ) AS share
), known AS MATERIALIZED (
  SELECT FROM limit_holder WHERE id = $1::uuid
), written AS (
  INSERT INTO limit_share (subject, route_class, policy, holder_id, shares, used)
  SELECT subject, route_class, policy, $1::uuid, shares, used
  FROM granted
  WHERE EXISTS (SELECT FROM known)
  ON CONFLICT (subject, route_class, policy, holder_id) DO UPDATE
  SET shares = ARRAY (SELECT greatest(a, b) FROM unnest(limit_share.shares, excluded.shares) AS both_of (a, b)),
      used = ARRAY (SELECT greatest(a, b) FROM unnest(limit_share.used, excluded.used) AS both_of (a, b))
), spent AS (
  DELETE FROM limit_share
  WHERE cardinality($11::uuid[]) > 0
    AND ctid = ANY (ARRAY (
      SELECT other.ctid
      FROM granted
      CROSS JOIN LATERAL (
        SELECT other.ctid, other.holder_id FROM limit_share AS other WHERE ${isOf('granted')} OFFSET 0
      ) AS other
      JOIN unnest($11::uuid[], $12::float8[]) AS gone (id, for_ms) ON gone.id = other.holder_id
      WHERE is_met AND for_ms >= (SELECT max(ms) FROM unnest(windows_ms) AS ms)
    ))
), asks AS (
  INSERT INTO limit_ask (holder_id, subject, route_class, policy)
  SELECT other.holder_id, other.subject, other.route_class, other.policy
  FROM granted
  CROSS JOIN LATERAL (
    SELECT other.*
    FROM limit_share AS other
    WHERE ${isOf('granted')}
    OFFSET 0 -- or a plan made while the table was empty would read all of it for each grant
  ) AS other
  JOIN limit_holder AS holder ON holder.id = other.holder_id
  WHERE is_short
    AND EXISTS (SELECT FROM known)
    AND other.holder_id <> $1::uuid
  ON CONFLICT DO NOTHING
)
SELECT shares, unallocated, is_short AS "isShort",
       CASE WHEN is_met THEN ARRAY (
         SELECT other.holder_id::text
         FROM (
           SELECT holder_id FROM limit_share AS other WHERE ${isOf('granted')} AND holder_id <> $1::uuid
           UNION ALL
           SELECT holder_id FROM default_holder
         ) AS other
         WHERE NOT EXISTS (SELECT FROM limit_holder WHERE id = other.holder_id)
           AND other.holder_id <> ALL ($11::uuid[])
       ) ELSE '{}' END AS strays
FROM granted
WHERE EXISTS (SELECT FROM known)
ORDER BY number`,
};
