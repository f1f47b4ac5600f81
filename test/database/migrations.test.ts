import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DataSource, QueryRunner } from 'typeorm';
import { createDataSource, migrations } from '../../src/database/data-source.js';
import { migrate } from '../../src/database/migrate.js';
import { reachDatabase } from '../../src/database/reach.js';
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

  it('store and vacuum the days of requests by count, those of the first start and those to come', async () => {
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

  it('sum shares and use of a limit over its holders, window by window', async () => {
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
    'refuse a database that the unreleased %s made in one line, and change nothing of it',
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

  it('give up on a lock that another session keeps, and say whose it is and what to do', async () => {
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
    const { stdout, status } = spawnSync(
      join(root, 'node_modules/.bin/squawk'),
      ['--config', '.squawk.toml', '--reporter', 'gcc'],
      { cwd: root, input: await statements(), encoding: 'utf8' },
    );
    expect(stdout).toBe('');
    expect(status).toBe(0);
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

/** Returns the SQL of all migrations, recorded without running it. */
async function statements(): Promise<string> {
  const taken: string[] = [];
  const recorder = { query: async (sql: string) => void taken.push(sql) } as unknown as QueryRunner;
  for (const Migration of migrations) await new Migration().up(recorder);
  return taken.map((sql) => `${sql.trim()};\n`).join('\n');
}
