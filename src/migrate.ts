import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { commandOf } from './config/package.js';
import { programOf } from './config/program.js';
import { type CommandOptions, withServer } from './command-database.js';
import { runCommandLine } from './command-line.js';
import { loadConfig } from './config/config.js';
import { createDataSource } from './database/data-source.js';
import { migrate } from './database/migrate.js';
import { orAborted, reachDatabase } from './database/reach.js';
import { countOf, readSchemaState, type SchemaState, sqlOf } from './database/schema-state.js';
import type { DatabaseSessions } from './database/sessions.js';

/**
 * `npm run migrate`. Exit code 0: done. 1: failed, with the reason on standard error; of `status` also: a migration of
 * this release is not applied. 2: wrong usage.
 */
const program = programOf(
  'migrate',
  'Applies the migrations that the database lacks, one transaction each.',
  `
The database is the one that DATABASE_DIRECT_URL or DATABASE_URL names, or else the embedded one in DATA_DIR (.data).
The role must own the tables. docs/upgrading.md describes an upgrade.`,
)
  .exitOverride()
  .option('--grants <file>', 'then runs this file of SQL, such as deploy/postgres/grants.sql')
  .action(apply);

program
  .command('plan')
  .description('Prints the SQL of the migrations that the database lacks, and applies nothing.')
  .action(() => look(describePlan))
  .copyInheritedSettings(program);

program
  .command('status')
  .description('Lists the migrations. The exit code is 1 if one of this release is not applied.')
  .action(() => look(describeStatus))
  .copyInheritedSettings(program);

await runCommandLine(program);

/** Applies all open migrations, then `grants`. Like a start, it waits for a database that is late. */
async function apply({ grants }: { grants?: string }): Promise<void> {
  const sql = grants === undefined ? undefined : readFileSync(grants, 'utf8');
  await withSessions({ waitMs: undefined }, async (sessions, { signal, report }) => {
    const applied: string[] = [];
    const onApplied = (name: string): void => {
      applied.push(name);
      print(`applied ${name}`);
    };
    try {
      await migrate(sessions, { signal, report, onApplied });
    } catch (error) {
      if (applied.length === 0 || !signal.aborted) throw error;
      throw new Error(`Interrupted after ${countOf(applied)}. Run the command again for the others.`, {
        cause: error,
      });
    }
    if (sql !== undefined) await grant(sessions, sql);
    print(describeState(await readSchemaState(sessions)));
  });
}

/** Runs the statements in one session. Those of grants.sql are one transaction. */
async function grant(sessions: DatabaseSessions, sql: string): Promise<void> {
  const rows = await createDataSource({ url: sessions.usual(), poolSize: 1 }).initialize();
  try {
    await rows.query(sql);
  } catch (cause) {
    throw new Error(`The migrations are applied, but not the grants: ${(cause as Error).message}`, { cause });
  } finally {
    await rows.destroy();
  }
  print('applied the grants');
}

async function describePlan({ database, open }: SchemaState): Promise<string> {
  if (open.length === 0) return `-- The database at ${database} has all migrations of this release.`;
  const lines = [
    `-- ${commandOf('migrate')} applies ${countOf(open)} to the database at ${database}. Each is one transaction, which also`,
    '-- writes its name into the table migrations.',
  ];
  for (const migration of open) lines.push(`\n-- ${migration.name}`, (await sqlOf(migration)).trimEnd());
  return lines.join('\n');
}

async function describeStatus(state: SchemaState): Promise<string> {
  if (state.open.length > 0) process.exitCode = 1;
  return [
    ...state.applied.map((name) => `applied  ${name}`),
    ...state.open.map(({ name }) => `open     ${name}`),
    ...state.newer.map((name) => `newer    ${name}`),
    describeState(state),
  ].join('\n');
}

function describeState({ database, open }: SchemaState): string {
  if (open.length === 0) return `The database at ${database} has all migrations of this release.`;
  return `The database at ${database} lacks ${countOf(open)} of this release. Apply them: ${commandOf('migrate')}`;
}

function look(describe: (state: SchemaState) => Promise<string>): Promise<void> {
  return withSessions({}, async (sessions, { signal }) =>
    print(await describe(await orAborted(readSchemaState(sessions), signal))),
  );
}

/** Opens sessions that bypass a pooler, if there is a way, as a start does for its migrations. */
function withSessions(
  options: Partial<CommandOptions>,
  work: (sessions: DatabaseSessions, options: CommandOptions) => Promise<void>,
): Promise<void> {
  const config = loadConfig();
  return withServer(config, async (serverUrl, ofCommands) => {
    const all = { ...ofCommands, ...options };
    await work(await reachDatabase(config.databaseDirectUrl ?? serverUrl, all), all);
  });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
