import type pg from 'pg';
import { givenOptions } from '../internals/given-options.js';
import { isPooled } from '../internals/pooled.js';
import { describeDatabase } from './describe-database.js';

interface Setting {
  value: string;
  /** Matches other values that are accepted, too. */
  orElse?: RegExp;
}

/**
 * Every setting on which the service's statements, node-postgres or TypeORM rely in all sessions. A role, a database
 * and the server can each have another value. The settings that only an operator decides are not among them:
 * `search_path` (where the tables are), `synchronous_commit` (how safe a commit is) and tablespaces. node-postgres sends
 * `client_encoding` itself.
 */
const everySession: Readonly<Record<string, Setting>> = {
  // node-postgres reads times and intervals in these forms only.
  DateStyle: { value: 'ISO', orElse: /^ISO,/ },
  IntervalStyle: { value: 'postgres' },
  // Partitions are days of UTC, and '1 day' is 23 hours on some days of other zones.
  TimeZone: { value: 'UTC', orElse: /^(Etc\/)?(UTC|UCT|GMT|Universal|Zulu)$/i },
  // With less, a virtual start would change on its way through this process.
  extra_float_digits: { value: '1', orElse: /^[23]$/ },
  // Arrays of parameters contain nulls, and patterns contain backslashes.
  array_nulls: { value: 'on' },
  standard_conforming_strings: { value: 'on' },
  // A claim skips the rows that others change at the same time. At the other levels it would fail instead.
  default_transaction_isolation: { value: 'read committed' },
  default_transaction_read_only: { value: 'off' },
  // The service limits the time of its statements itself, and keeps idle sessions.
  statement_timeout: { value: '0' },
  lock_timeout: { value: '0' },
  transaction_timeout: { value: '0' },
  idle_in_transaction_session_timeout: { value: '0' },
  idle_session_timeout: { value: '0' },
  // A refused row must not cost the session.
  exit_on_error: { value: 'off' },
  // Triggers count the files of a key and tell other nodes that a key has changed.
  session_replication_role: { value: 'origin' },
  // A statement with the id of a request reads one day, not all.
  enable_partition_pruning: { value: 'on' },
  // Compiling a statement for its partitions would take longer than running it.
  jit: { value: 'off' },
};

/**
 * The planner of the statement pools. Every statement of these pools looks rows up by key, in key order. A plan made
 * while a table was empty would scan or sort it for the life of the connection. The other plans are therefore disabled
 * from the start.
 */
const byKey: Readonly<Record<string, Setting>> = {
  enable_seqscan: { value: 'off' },
  enable_bitmapscan: { value: 'off' },
  enable_sort: { value: 'off' },
  enable_hashjoin: { value: 'off' },
  enable_mergejoin: { value: 'off' },
  enable_indexscan: { value: 'on' },
  enable_nestloop: { value: 'on' },
  plan_cache_mode: { value: 'force_generic_plan' },
};

/** The usual planner, for statements that do not only look up by key. */
export const usualPlanner: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(byKey).map((name) => [name, 'on'])),
  plan_cache_mode: 'auto',
};

const valuesOf = (settings: Readonly<Record<string, Setting>>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([name, { value }]) => [name, value]));

/** The settings that the role must have if its sessions cannot set them, as behind a pooler. */
export const settingsOfRole: Readonly<Record<string, string>> = valuesOf({ ...everySession, ...byKey });

interface FoundSetting {
  name: string;
  /** The value of this session. */
  now: string;
  /** The value with which a session of this role begins. */
  initially: string;
  /** True: a session may set it at its start, whatever its role. */
  isFree: boolean;
  /** `database user`: the role has it for this database only. */
  source: string;
}

/** A setting of another server version is not found. */
const findSettings = `
SELECT name, setting AS now, reset_val AS initially, context = 'user' AS "isFree", source
FROM pg_settings WHERE name = ANY ($1::text[]) ORDER BY name`;

/** How sessions on one database begin. They send no SET, because a pooler would pass it on to other clients. */
export class DatabaseSessions {
  constructor(
    /** The URL without our options. */
    readonly url: string,
    /** The settings that a session sets at its start. undefined: the role has them, because there is a pooler. */
    private readonly settable?: ReadonlySet<string>,
    /** The startup options that the operator gave. */
    private readonly given = '',
  ) {}

  /**
   * Reads over `client` what sessions at `url` may set. Throws if a setting that they cannot set is wrong, with the SQL
   * that mends it.
   */
  static async find(
    client: pg.ClientBase,
    url: string,
    report: (sentence: string) => void = () => undefined,
    behindPooler?: boolean,
  ): Promise<DatabaseSessions> {
    const { rows } = await client.query<FoundSetting>(findSettings, [Object.keys(settingsOfRole)]);
    if (!(behindPooler ?? (await isPooled(client)))) {
      await refuse(client, url, wrong(rows.filter(({ isFree }) => !isFree)));
      const settable = rows.filter(({ isFree }) => isFree).map(({ name }) => name);
      return new DatabaseSessions(url, new Set(settable), givenOptions(client));
    }
    await refuse(client, url, wrong(rows), true);
    const changed = rows.filter(({ name, now }) => !fits(name, now)).map(({ name }) => name);
    if (changed.length > 0)
      report(
        `A client of the pooler at ${describeDatabase(url)} has changed ${changed.join(', ')} for all its other ` +
          'clients. Let the pooler open new connections (PgBouncer: RECONNECT), and give that client a database ' +
          'role of its own.',
      );
    return new DatabaseSessions(url);
  }

  get isPooled(): boolean {
    return this.settable === undefined;
  }

  /** The URL of sessions whose statements are planned as usual. A pooler's sessions have no `statementTimeoutMs`. */
  usual(statementTimeoutMs = 0): string {
    return this.with({
      ...valuesOf(everySession),
      ...usualPlanner,
      statement_timeout: String(statementTimeoutMs),
    });
  }

  /** The URL of sessions for statements that look rows up by key. */
  byKey(): string {
    return this.with(settingsOfRole);
  }

  /** Adds startup options to those that the operator gave. The last value of a setting counts. */
  private with(settings: Readonly<Record<string, string>>): string {
    const options = Object.entries(settings)
      .filter(([name]) => this.settable?.has(name))
      .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`);
    if (options.length === 0) return this.url;
    const url = new URL(this.url);
    url.searchParams.set('options', [this.given, ...options].join(' ').trim());
    return url.href;
  }
}

function fits(name: string, value: string): boolean {
  const wanted = { ...everySession, ...byKey }[name]!;
  return value === wanted.value || wanted.orElse?.test(value) === true;
}

const wrong = (rows: readonly FoundSetting[]): FoundSetting[] =>
  rows.filter(({ name, initially }) => !fits(name, initially));

async function refuse(
  client: pg.ClientBase,
  url: string,
  settings: readonly FoundSetting[],
  behindPooler = false,
): Promise<void> {
  if (settings.length === 0) return;
  const { rows } = await client.query<{ role: string; database: string }>(
    'SELECT quote_ident(session_user) AS role, quote_ident(current_database()) AS database',
  );
  const { role, database } = rows[0]!;
  const lines = settings.map(({ name, initially, source }) => {
    const whose = source === 'database user' ? `${role} IN DATABASE ${database}` : role;
    return `  ALTER ROLE ${whose} SET ${name} = '${settingsOfRole[name]!}'; -- is '${initially}'`;
  });
  const why = behindPooler
    ? 'a pooler would pass on to other clients what a session sets. Give the service a database role of its own, run ' +
      'these lines, let the pooler open new connections (PgBouncer: RECONNECT), and start again'
    : 'only a superuser may set these. Run these lines as a superuser, and start again';
  throw new Error(
    `The role ${role} has settings in the database at ${describeDatabase(url)} with which the service does not work, ` +
      `and its sessions cannot change them, because ${why}:\n${lines.join('\n')}`,
  );
}
