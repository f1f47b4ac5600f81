import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DataSource } from 'typeorm';
import { createDataSource, migrations } from '../../src/database/data-source.js';
import { migrate } from '../../src/database/migrate.js';
import { openDatabase } from '../../src/database/open-database.js';
import { reachDatabase } from '../../src/database/reach.js';
import { sqlOf } from '../../src/database/schema-state.js';
import { faultsOfMigration, lastOfHistory, squawk } from '../support/migration-rules.js';
import { createEmptyDatabase } from '../support/test-database.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Everything visible of the schema, one line each. */
const catalogue = `
  SELECT format('column %s.%s %s%s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END, pg_get_expr(d.adbin, d.adrelid)) AS line
  FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'v')
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND c.relname <> 'migrations'
  UNION ALL
  SELECT format('constraint %s %s', conname, pg_get_constraintdef(oid))
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid <> coalesce(to_regclass('migrations'), 0)
  UNION ALL
  SELECT format('index %s', indexdef) FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'migrations'
  UNION ALL
  SELECT format('relation %s %s', relname, reloptions) FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') AND relname <> 'migrations'
  UNION ALL
  SELECT format('function %s', pg_get_functiondef(oid)) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL
  SELECT format('sequence %s', sequencename) FROM pg_sequences
  WHERE schemaname = 'public' AND sequencename <> 'migrations_id_seq'
  UNION ALL
  SELECT format('trigger %s', pg_get_triggerdef(oid)) FROM pg_trigger WHERE NOT tgisinternal
  ORDER BY 1`;

describe('the migrations', () => {
  it('go up, down to nothing, and up to the same schema again', async () => {
    await onEmptyDatabase([], async (dataSource) => {
      const before = await schema(dataSource);
      await dataSource.runMigrations();
      const first = await schema(dataSource);
      for (let left = migrations.length; left > 0; left--) await dataSource.undoLastMigration();
      expect(await schema(dataSource)).toEqual(before);
      await dataSource.runMigrations();
      expect(await schema(dataSource)).toEqual(first);
      expect(first.length).toBeGreaterThan(100);
    });
  });

  it('build the very schema that the entities describe', async () => {
    await onEmptyDatabase(await entities(), async (dataSource) => {
      await dataSource.runMigrations();
      const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
      expect(upQueries.map(({ query }) => query)).toEqual([]);
    });
  });

  it('set storage and vacuum options for the days of requests, existing and later ones', async () => {
    await onEmptyDatabase([], async (dataSource) => {
      await dataSource.runMigrations();
      await dataSource.query(`SELECT ensure_partitions('2001-01-01', 1)`);
      const days: { options: string[] }[] = await dataSource.query(
        `SELECT reloptions AS options FROM pg_class JOIN pg_partition_tree('request') ON relid = oid WHERE isleaf`,
      );
      expect(days).toHaveLength(10);
      const options = [
        'fillfactor=40',
        'autovacuum_vacuum_scale_factor=0',
        'autovacuum_vacuum_threshold=20000',
      ];
      expect(days).toEqual(days.map(() => ({ options })));
    });
  });

  it('create a view that sums the shares and use of a limit over its holders, by window', async () => {
    await onEmptyDatabase([], async (dataSource) => {
      await dataSource.runMigrations();
      await dataSource.query(
        `INSERT INTO limit_share (subject, route_class, policy, holder_id, shares, used)
         VALUES ('key:a', 'submit', '10/s,100/min', gen_random_uuid(), '{4,60}', '{1,20}'),
                ('key:a', 'submit', '10/s,100/min', gen_random_uuid(), '{5,30}', '{0,7}'),
                ('key:a', 'other', '10/s', gen_random_uuid(), '{3}', '{2}')`,
      );
      expect(await dataSource.query(`SELECT * FROM rate_limit_usage ORDER BY route_class`)).toEqual([
        { subject: 'key:a', route_class: 'other', policy: '10/s', shares: ['3'], used: ['2'] },
        {
          subject: 'key:a',
          route_class: 'submit',
          policy: '10/s,100/min',
          shares: ['9', '90'],
          used: ['1', '27'],
        },
      ]);
    });
  });

  it.each(['Queue1780000000001', 'SinceWhen1790000000038'])(
    'refuse a database of the unreleased %s in one line, and leave it unchanged',
    async (name) => {
      await onEmptyDatabase([], async (dataSource, url) => {
        await dataSource.runMigrations();
        await dataSource.undoLastMigration();
        await dataSource.query(
          `UPDATE migrations SET timestamp = right($1, 13)::bigint, name = $1 WHERE id = 1`,
          [name],
        );
        const before = await schema(dataSource);
        await expect(reachDatabase(url).then((sessions) => migrate(sessions))).rejects.toThrow(
          /^The database at [^ ]+ is of an unreleased earlier version .*\. Use a new database, or delete DATA_DIR.*\.$/,
        );
        expect(await schema(dataSource)).toEqual(before);
      });
    },
  );

  it('are not applied by a start with MIGRATE=off, which names them and the command', async () => {
    await onEmptyDatabase([], async (dataSource, url) => {
      const open = (): Promise<unknown> => openDatabase(url, undefined, { isAllowed: false });
      await expect(open()).rejects.toThrow(
        new RegExp(`lacks ${migrations.length} migrations of this release`),
      );
      await dataSource.runMigrations();
      await open();
      await dataSource.undoLastMigration();
      const before = await schema(dataSource);
      const last = migrations.at(-1)!.name;
      await expect(open()).rejects.toThrow(
        new RegExp(
          `lacks 1 migration of this release: ${last}\\. MIGRATE=off .*\`npm run migrate\` .*Nothing was changed\\.$`,
        ),
      );
      expect(await schema(dataSource)).toEqual(before);
    });
  });

  it.each([true, false])('of a newer release are reported, and stay (MIGRATE: %s)', async (isAllowed) => {
    await onEmptyDatabase([], async (dataSource, url) => {
      await dataSource.runMigrations();
      await dataSource.query(
        `INSERT INTO migrations (timestamp, name) VALUES (1890000000000, 'Later1890000000000')`,
      );
      const before = await schema(dataSource);
      const reports: string[] = [];
      await openDatabase(url, undefined, { isAllowed, report: (sentence) => reports.push(sentence) });
      expect(reports).toEqual([
        expect.stringMatching(
          /^The database at [^ ]+ has 1 migration of a newer release \(Later1890000000000\)\./,
        ),
      ]);
      expect(await schema(dataSource)).toEqual(before);
    });
  });

  it('stop waiting for a lock that another session holds, and name its process and a remedy', async () => {
    await onEmptyDatabase([], async (dataSource, url) => {
      const holder = dataSource.createQueryRunner();
      const [{ pid }] = (await holder.query(
        'SELECT pg_backend_pid() AS pid, pg_advisory_lock(1835624306)',
      )) as [{ pid: number }];
      const reports: string[] = [];
      const sessions = await reachDatabase(url);
      await expect(
        migrate(sessions, { patienceMs: 2_000, report: (sentence) => reports.push(sentence) }),
      ).rejects.toThrow(
        new RegExp(`migration lock for 2 s: process ${pid} of PostgreSQL .*pg_terminate_backend\\(${pid}\\)`),
      );
      expect(reports).toEqual([expect.stringContaining(`Waiting for another session`)]);
      await holder.query('SELECT pg_advisory_unlock_all()');
      await holder.release();
      // With nothing to migrate, no start waits for the lock.
      await Promise.all([migrate(sessions), migrate(sessions), migrate(sessions)]);
      await dataSource.query('SELECT pg_advisory_lock(1835624306)');
      await migrate(sessions, { patienceMs: 0 });
    });
  });

  it('have unique names in the order of their files', () => {
    const names = migrations.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.map((name) => name.slice(-13))).toEqual(names.map((name) => name.slice(-13)).sort());
    expect(readdirSync(join(root, 'migrations')).filter((file) => file.endsWith('.ts'))).toHaveLength(
      names.length,
    );
  });

  it('issue only statements that the SQL linter lets pass', async () => {
    const text = (await Promise.all(migrations.map(sqlOf))).join('\n');
    // Before the first release there was no table in use that a migration could lock.
    expect(squawk(text, ['require-lock-timeout'])).toEqual([]);
  });

  it('do not block running services, except those of the history', async () => {
    const history = migrations.findIndex(({ name }) => name === lastOfHistory) + 1;
    expect(history).toBeGreaterThan(0);
    for (const migration of migrations.slice(history)) {
      const faults = faultsOfMigration(await sqlOf(migration));
      expect({ name: migration.name, faults }).toEqual({ name: migration.name, faults: [] });
    }
  });
});

describe('a migration', () => {
  const begin = `SET LOCAL lock_timeout = '5s';\n`;

  it.each([
    ['CREATE INDEX a ON request (id)', 'require-concurrent-index-creation'],
    ['CREATE UNIQUE INDEX a ON lease (request_id)', 'require-concurrent-index-creation'],
    ['CREATE INDEX CONCURRENTLY a ON file (id)', 'ban-concurrent-index-creation-in-transaction'],
    ['DROP INDEX a', 'require-concurrent-index-deletion'],
    ['ALTER TABLE request ADD COLUMN a uuid DEFAULT gen_random_uuid()', 'adding-field-with-default'],
    ['ALTER TABLE request ADD COLUMN a integer NOT NULL', 'adding-required-field'],
    ['ALTER TABLE lease ALTER COLUMN a SET NOT NULL', 'adding-not-nullable-field'],
    ['ALTER TABLE lease ADD CONSTRAINT a CHECK (b > 0)', 'constraint-missing-not-valid'],
    ['ALTER TABLE lease ADD CONSTRAINT a UNIQUE (b)', 'disallowed-unique-constraint'],
    ['ALTER TABLE lease ADD CONSTRAINT a FOREIGN KEY (b) REFERENCES c (d)', 'adding-foreign-key-constraint'],
    ['ALTER TABLE lease ALTER COLUMN a TYPE bigint', 'changing-column-type'],
    ['ALTER TABLE lease SET UNLOGGED', 'rewrites a table'],
    ['REINDEX TABLE request', 'require-concurrent-reindex'],
    ['VACUUM FULL request', 'rewrites a table'],
    ['CLUSTER request', 'rewrites a table'],
    ['TRUNCATE lease', 'rewrites a table'],
    ['LOCK TABLE request', 'locks a table'],
    ['SELECT count(*) FROM request FOR UPDATE', 'locks a table'],
    ['ALTER TABLE lease SET ACCESS METHOD heap', 'rewrites a table'],
    ['ALTER TABLE lease ADD COLUMN a integer CHECK (a > 0)', 'reads a whole table'],
    ['ALTER TABLE request ATTACH PARTITION a FOR VALUES IN (1)', 'reads a whole table'],
    ['UPDATE model SET reserve_high = 1 WHERE true', 'writes a whole table'],
    ['MERGE INTO node USING a ON true WHEN MATCHED THEN DELETE', 'writes a whole table'],
    ['WITH gone AS (DELETE FROM lease RETURNING *) SELECT count(*) FROM gone', 'writes a whole table'],
    ['DO $$ BEGIN CREATE INDEX a ON lease (b); END $$', 'require-concurrent-index-creation'],
    ['DO $x$ BEGIN IF true THEN ALTER TABLE lease DROP COLUMN a; END IF; END $x$', 'ban-drop-column'],
    [`DO $$ BEGIN EXECUTE 'CREATE INDEX a ON lease (b)'; END $$`, 'hides a statement in a text'],
    ['UPDATE model SET reserve_high = 1', 'writes a whole table'],
    ['DELETE FROM node', 'writes a whole table'],
    [`UPDATE request SET tags = '{}' WHERE tags IS NULL`, 'writes a table of days'],
    ['DO $$ BEGIN DELETE FROM attempt WHERE true; END $$', 'writes a table of days'],
    ['ALTER TABLE request DROP COLUMN tags', 'ban-drop-column'],
    ['ALTER TABLE request RENAME COLUMN tags TO labels', 'renaming-column'],
    ['ALTER TABLE lease RENAME TO a', 'renaming-table'],
    ['DROP TABLE lease', 'ban-drop-table'],
    ['DROP VIEW queue_depth', 'takes something from old nodes'],
    ['DROP FUNCTION uuid_at(timestamptz)', 'takes something from old nodes'],
    ['-- squawk-ignore ban-drop-column\nALTER TABLE request DROP COLUMN tags', 'silences squawk'],
  ])('may not %s', (sql, rule) => {
    expect(faultsOfMigration(`${begin}${sql};`).join('\n')).toContain(rule);
  });

  it('must begin with a lock timeout', () => {
    const sql = 'ALTER TABLE request ADD COLUMN a text;';
    expect(faultsOfMigration(sql).join('\n')).toContain('does not begin with SET LOCAL lock_timeout');
    expect(faultsOfMigration(sql).join('\n')).toContain('require-lock-timeout');
    expect(faultsOfMigration(`SET LOCAL lock_timeout = '60s';\n${sql}`)).toHaveLength(1);
  });

  it.each([
    'ALTER TABLE request ADD COLUMN a text, ADD COLUMN b integer NOT NULL DEFAULT 0',
    'ALTER TABLE lease ADD CONSTRAINT a CHECK (b > 0) NOT VALID',
    'ALTER TABLE lease VALIDATE CONSTRAINT a',
    'CREATE TABLE a (id uuid PRIMARY KEY); CREATE INDEX a_by_id ON a (id)',
    'CREATE INDEX a ON ONLY request (priority)',
    'CREATE OR REPLACE VIEW recent_request AS SELECT * FROM request; SELECT bound_recent_request()',
    'ALTER TABLE request ADD COLUMN a integer, ADD CONSTRAINT b CHECK (a > 0) NOT VALID',
    'DO $$ DECLARE day record; BEGIN FOR day IN SELECT 1 LOOP PERFORM now(); END LOOP; END $$',
    'CREATE FUNCTION a() RETURNS void LANGUAGE sql AS $$ DELETE FROM node $$',
    `UPDATE model SET reserve_high = 1 WHERE id = 'a; b'`,
    '-- contract: 1.4 stopped using it.\nALTER TABLE request DROP COLUMN tags; DROP VIEW queue_depth',
  ])('may %s', (sql) => {
    expect(faultsOfMigration(`${begin}${sql};\n`)).toEqual([]);
  });

  it('can create an index for new days, and the documented statements add it to existing days', async () => {
    const page = readFileSync(join(root, 'docs/upgrading.md'), 'utf8');
    const section = page.split('### An index for a table in use')[1]!.split('\n## ')[0]!;
    const [, onParent] = /`(CREATE INDEX \w+ ON ONLY [^`]+)`/.exec(section)!;
    const [, print] = /```sql\n(.*?)\n```/s.exec(section)!;
    await onEmptyDatabase([], async (dataSource) => {
      await dataSource.runMigrations();
      await dataSource.query(onParent!);
      await dataSource.query(`SELECT ensure_partitions('2001-01-01', 1)`);
      const attached = (): Promise<{ days: number; isValid: boolean }[]> =>
        dataSource.query(`SELECT (SELECT count(*)::integer FROM pg_inherits WHERE inhparent = indexrelid) AS days, indisvalid AS "isValid"
          FROM pg_index WHERE indexrelid = 'request_by_priority'::regclass`);
      expect(await attached()).toEqual([{ days: 1, isValid: false }]);
      const rows: Record<string, string>[] = await dataSource.query(print!);
      expect(rows).toHaveLength(10);
      const lines = rows.flatMap((row) => Object.values(row)).filter((line) => !line.includes('20010101'));
      for (const line of lines) await dataSource.query(line);
      expect(await attached()).toEqual([{ days: 10, isValid: true }]);
    });
  });
});

async function onEmptyDatabase(
  entityClasses: (new () => object)[],
  work: (dataSource: DataSource, url: string) => Promise<void>,
): Promise<void> {
  const database = await createEmptyDatabase();
  const dataSource = await createDataSource({
    url: database.url,
    poolSize: 2,
    entities: entityClasses,
  }).initialize();
  try {
    await work(dataSource, database.url);
  } finally {
    await dataSource.destroy();
    await database.drop();
  }
}

async function schema(dataSource: DataSource): Promise<string[]> {
  const lines: { line: string }[] = await dataSource.query(catalogue);
  return lines.map(({ line }) => line);
}

/** Returns every entity in the source tree, including entities that no module registers. */
async function entities(): Promise<(new () => object)[]> {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const modules = await Promise.all(
    files
      .filter((file) => file.endsWith('.entity.ts'))
      .map((file) => import(pathToFileURL(join(root, 'src', file)).href) as Promise<Record<string, unknown>>),
  );
  return modules
    .flatMap((module) => Object.values(module))
    .filter((value): value is new () => object => typeof value === 'function');
}
