import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Not, type Repository } from 'typeorm';
import { LimitsDatabase, limitsPoolSize } from '../database/limits-database.js';
import type { Statement } from '../database/statement.js';
import { textArray } from '../database/text-array.js';
import { LimitAskEntity, LimitShareEntity } from './entities/limit-share.entity.js';
import {
  type BudgetKey,
  type Grant,
  type GrantRequest,
  type PerWindow,
  type ShareRow,
  unavailable,
} from './budget.js';

export interface GrantResult {
  /** False: the other nodes gave this holder up, and nothing is granted. */
  isKnown: boolean;
  grants: Grant[];
  /** Holders that are gone and that the request did not name. */
  strays: string[];
}

/** A holder of shares and the number of one of its statements. Each number is greater than the one before. */
export interface HolderBeat {
  id: string;
  beat: number;
}

/** A holder that admits no more, and the time in milliseconds for which that is known. */
export interface GoneHolder {
  id: string;
  forMs: number;
}

export interface WriteRequest {
  rows: readonly ShareRow[];
  forgotten: readonly BudgetKey[];
  /** Holders that were silent for too long. They may no longer use their shares, unless they have sent a beat since. */
  silent: readonly HolderBeat[];
}

export interface WriteResult {
  /** False: the other nodes gave this holder up, with its shares. */
  isKnown: boolean;
  /** All other holders. */
  holders: HolderBeat[];
  /** Budgets of which another node wants a part. */
  asked: BudgetKey[];
}

export interface Registration {
  holders: HolderBeat[];
  /** Holders that are gone but still have rows. */
  gone: string[];
}

/** What one holder used of a budget. */
export type HolderUse = Pick<LimitShareEntity, 'subject' | 'routeClass' | 'policy' | 'holderId' | 'used'>;

/** The database's side of the shares. */
export interface ShareStore {
  register(holder: string): Promise<Registration>;
  /**
   * Resolves when the grants are durable. Several may be under way, but none for a budget that another statement has.
   */
  grant(holder: string, requests: readonly GrantRequest[], gone: readonly GoneHolder[]): Promise<GrantResult>;
  /** Does nothing if the holder's row is gone or has a number that is not smaller. */
  write(holder: HolderBeat, request: WriteRequest): Promise<WriteResult>;
  /** Deletes the rows of holders that have been gone for longer than any window. */
  prune(holders: readonly string[]): Promise<void>;
  /** Ends a holder that admits no more. Its rows show what it used. */
  leave(holder: string, rows: readonly ShareRow[]): Promise<void>;
  /** Returns what all other holders last wrote of the budgets of these subjects. */
  useOfOthers(holder: string, subjects: readonly string[]): Promise<HolderUse[]>;
}

/** Rows per statement, of which each scans the table: there is no index by holder. */
const prunedAtOnce = 10_000;

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
const lockBudgets: Statement = {
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

/**
 * Sums up what is held in addition to the share that the node knows of: the other nodes' shares, and what a lost answer
 * granted it. A holder without a row in limit_holder may have used more than it wrote. The most that it may have used is
 * what the tightest window's share allows in 7 s. It may admit for 3 s after its last write. Another 2 s are for a write
 * that passed over a row with a grant under way, which `ShareDatabase` gives up after as long. The rest is 1 s until the
 * next write, and 1 s for what is not written until it is as much. A holder counts for nothing in windows shorter than
 * the time it has been gone.
 */
const heldBeside = `SELECT coalesce(sum(
         CASE
           WHEN other.holder_id = $1::uuid THEN greatest(0, other.shares[i] - held[i])
           WHEN holder.id IS NOT NULL THEN other.shares[i]
           WHEN gone.for_ms >= windows_ms[i] THEN 0
           WHEN i = 1 THEN other.shares[1]
           ELSE least(other.shares[i], other.used[i] + other.shares[1]::bigint * ceil(7000.0 / windows_ms[1])::integer)
         END
       ), 0)::bigint
FROM limit_share AS other
LEFT JOIN limit_holder AS holder ON holder.id = other.holder_id
LEFT JOIN unnest($11::uuid[], $12::float8[]) AS gone (id, for_ms) ON gone.id = other.holder_id
WHERE ${isOf('asked')}`;

export const grantStatement: Statement = {
  name: 'grant_shares',
  text: `WITH asked AS MATERIALIZED (
  SELECT subject, route_class, policy, limits::integer[], windows_ms::integer[], held::integer[], used::integer[],
         needed::integer[], wanted::integer[], number
  FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
              $10::text[]) WITH ORDINALITY
    AS asked (subject, route_class, policy, limits, windows_ms, held, used, needed, wanted, number)
), granted AS MATERIALIZED (
  SELECT asked.subject, asked.route_class, asked.policy, windows_ms, number, is_met, share.*
  FROM asked
  CROSS JOIN LATERAL (
    SELECT EXISTS (SELECT FROM limit_share AS other WHERE ${isOf('asked')}) AS is_met
    OFFSET 0 -- or it would be looked up again wherever it is used
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
         FROM limit_share AS other
         WHERE ${isOf('granted')}
           AND other.holder_id <> $1::uuid
           AND other.holder_id <> ALL ($11::uuid[])
           AND NOT EXISTS (SELECT FROM limit_holder WHERE id = other.holder_id)
       ) ELSE '{}' END AS strays
FROM granted
WHERE EXISTS (SELECT FROM known)
ORDER BY number`,
};

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
const writeStatement: Statement = {
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
const leaveStatement: Statement = {
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

/*
 * Purpose: makes a node known as a holder of shares, and reads which holders there are and which are gone.
 * Race: its id is new. Until this is committed, the holder is granted nothing. Two nodes that register at the same
 *   moment may not see each other before their first rounds, and each may ask for whole limits until then.
 * Index: limit_holder_pkey. The holders that are gone are found by reading limit_share, once per start.
 */
const registerStatement: Statement = {
  name: 'register_holder',
  text: `WITH registered AS (
  INSERT INTO limit_holder (id)
  VALUES ($1::uuid)
)
SELECT coalesce((SELECT json_agg(json_build_object('id', id, 'beat', beat)) FROM limit_holder WHERE id <> $1::uuid), '[]')
         AS holders,
       ARRAY (
         SELECT DISTINCT holder_id::text
         FROM limit_share
         WHERE holder_id NOT IN (SELECT id FROM limit_holder)
       ) AS gone`,
};

/** A grant may take this long. `grantStatement` uses the number for what a crashed holder may have used. */
const patienceMs = 2_000;
/** One connection stays free for writes, even if a hanging database keeps the connections of abandoned grants. */
const maxGrants = limitsPoolSize - 1;

/** The shares as PostgreSQL keeps them. */
@Injectable()
export class ShareDatabase implements ShareStore {
  /** Grants whose connections are in use. */
  private granting = 0;

  constructor(
    private readonly database: LimitsDatabase,
    @InjectRepository(LimitShareEntity) private readonly shares: Repository<LimitShareEntity>,
    @InjectRepository(LimitAskEntity) private readonly asks: Repository<LimitAskEntity>,
  ) {}

  async register(holder: string): Promise<Registration> {
    const [result] = await this.database.query<Registration>(registerStatement, [holder]);
    return result!;
  }

  async grant(
    holder: string,
    requests: readonly GrantRequest[],
    gone: readonly GoneHolder[],
  ): Promise<GrantResult> {
    if (this.granting >= maxGrants) throw unavailable();
    const keys = keyColumns(requests);
    const numbers = (['limits', 'windowsMs', 'held', 'used', 'needed', 'wanted'] as const).map((field) =>
      texts(requests.map((request) => request[field])),
    );
    const holders = [gone.map(({ id }) => id), gone.map(({ forMs }) => forMs)];
    this.granting++;
    const granted = this.database
      .atomically<Grant & { strays: string[] }>(
        [lockBudgets, keys],
        [grantStatement, [holder, ...keys, ...numbers, ...holders]],
      )
      .finally(() => this.granting--);
    const grants = await inTime(granted);
    return { isKnown: grants.length > 0, grants, strays: grants.flatMap(({ strays }) => strays) };
  }

  async write({ id, beat }: HolderBeat, { rows, forgotten, silent }: WriteRequest): Promise<WriteResult> {
    const [result] = await this.database.query<WriteResult>(writeStatement, [
      id,
      beat,
      ...rowColumns(rows),
      ...keyColumns(forgotten.map((key) => ({ key }))),
      silent.map((one) => one.id),
      silent.map((one) => one.beat),
    ]);
    return result!;
  }

  async prune(holders: readonly string[]): Promise<void> {
    for (const table of [this.asks, this.shares]) {
      const some = `SELECT ctid FROM ${table.metadata.tableName} WHERE holder_id = ANY (:holders) LIMIT ${prunedAtOnce}`;
      const prune = table.createQueryBuilder().delete().where(`ctid = ANY (ARRAY(${some}))`, { holders });
      while ((await prune.execute()).affected === prunedAtOnce);
    }
  }

  async leave(holder: string, rows: readonly ShareRow[]): Promise<void> {
    const used = rows.filter((row) => row.used.some((count) => count > 0));
    await this.database.query(leaveStatement, [holder, ...rowColumns(used)]);
  }

  useOfOthers(holder: string, subjects: readonly string[]): Promise<HolderUse[]> {
    return this.shares.findBy({ subject: In(subjects), holderId: Not(holder) });
  }
}

/**
 * Rejects after `patienceMs`; the statement may still run. A late grant never makes a row smaller, so it does no harm.
 */
async function inTime<T>(asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable()), patienceMs);
  });
  try {
    return await Promise.race([asked, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function keyColumns(rows: readonly { key: BudgetKey }[]): string[] {
  return (['subject', 'routeClass', 'policy'] as const).map((field) =>
    textArray(rows.map(({ key }) => key[field])),
  );
}

function rowColumns(rows: readonly ShareRow[]): string[] {
  return [...keyColumns(rows), texts(rows.map(({ shares }) => shares)), texts(rows.map(({ used }) => used))];
}

/** PostgreSQL has no arrays of arrays of different lengths, so each array is sent as its text. */
function texts(values: readonly PerWindow[]): string {
  return textArray(values.map((numbers) => `{${numbers.join()}}`));
}
