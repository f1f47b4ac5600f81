import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The last migration before the first release, when no table was in use. Later ones must not lock tables in use. */
export const lastOfHistory = 'ErasedLines1790000000133';

/** Rules of squawk, and of this file, that a contract step may break. */
const contractRules = ['ban-drop-column', 'ban-drop-table', 'renaming-column', 'renaming-table'];

/** Tables with a partition for each day. */
const ofDays = 'request|attempt|request_event|output_delta';

/** Statements that squawk allows, but that hold a lock for long, read or write a whole table, or break old nodes. */
const ownRules: { rule: string; pattern: RegExp; mayContract?: boolean }[] = [
  { rule: 'locks a table', pattern: /^LOCK\b/i },
  { rule: 'locks a table', pattern: /^SELECT\b.*\bFOR (NO KEY )?(UPDATE|(KEY )?SHARE)\b/is },
  { rule: 'rewrites a table', pattern: /^(VACUUM|CLUSTER|TRUNCATE|REFRESH)\b/i },
  {
    rule: 'rewrites a table',
    pattern: /^ALTER TABLE\b.*\bSET (LOGGED|UNLOGGED|TABLESPACE|ACCESS METHOD)\b/is,
  },
  { rule: 'reads a whole table', pattern: /^ALTER TABLE\b.*\bATTACH PARTITION\b/is },
  {
    rule: 'reads a whole table',
    pattern: /^ALTER TABLE\b.*\bADD (COLUMN )?(?!CONSTRAINT\b)\w+ [^,]*\bCHECK\b/is,
  },
  { rule: 'writes a whole table', pattern: /^(WITH\b.*\()?\s*(UPDATE|DELETE)\b(?!.*\bWHERE\b)/is },
  { rule: 'writes a whole table', pattern: /^(UPDATE|DELETE)\b.*\bWHERE (true|1 ?= ?1)\b/is },
  { rule: 'writes a whole table', pattern: /^MERGE\b/i },
  { rule: 'hides a statement in a text', pattern: /^EXECUTE\b/i },
  {
    rule: 'writes a table of days',
    pattern: new RegExp(`^(UPDATE|DELETE FROM)\\s+(ONLY\\s+)?(${ofDays})\\b`, 'i'),
  },
  {
    rule: 'takes something from old nodes',
    pattern: /^(DROP (VIEW|FUNCTION|SEQUENCE|TRIGGER|TYPE)|ALTER (VIEW|FUNCTION|SEQUENCE) .*\bRENAME)\b/is,
    mayContract: true,
  },
];

/**
 * Returns the rules that a migration breaks. A service may run on the database meanwhile (docs/upgrading.md).
 * `-- contract: N.M …` in the SQL marks a contract step.
 */
export function faultsOfMigration(sql: string): string[] {
  const statements = statementsOf(sql);
  const isContract = /^\s*-- contract: \d+\.\d+ \S/m.test(sql);
  const own = ownRules
    .filter(({ mayContract }) => mayContract !== true || !isContract)
    .filter(({ pattern }) => statements.some((statement) => pattern.test(statement)))
    .map(({ rule }) => rule);
  if (!/^SET LOCAL lock_timeout = '[1-5]s'/.test(sql.trim()))
    own.push(`does not begin with SET LOCAL lock_timeout = '5s'`);
  if (/squawk-ignore/.test(sql)) own.push('silences squawk');
  const changes = statementsOfBlocks(sql).filter((statement) =>
    /^(ALTER|CREATE|DROP|REINDEX)\b/i.test(statement),
  );
  const all = [sql, ...changes].join(';\n');
  return [...own, ...squawk(withoutIndexesOfParents(all), isContract ? contractRules : [])];
}

/** Returns the findings of squawk, one line each. `excluded`: rules that do not apply, beside those of its file. */
export function squawk(sql: string, excluded: string[]): string[] {
  const args = ['--config', '.squawk.toml', '--reporter', 'gcc'];
  const options = { cwd: root, input: sql, encoding: 'utf8' } as const;
  const { stdout, stderr, error } = spawnSync(join(root, 'node_modules/.bin/squawk'), args, options);
  if (error !== undefined) throw error;
  const findings = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
  return findings.filter((line) => !excluded.some((rule) => line.includes(` ${rule} `)));
}

/** Removes the indexes of a parent without those of its days, which are made in no time. */
const withoutIndexesOfParents = (sql: string): string =>
  sql.replaceAll(/^\s*CREATE (UNIQUE )?INDEX \w+ ON ONLY [^;]*;/gm, '');

/** Returns the statements that run at once: without comments, texts, and the bodies of functions. */
function statementsOf(sql: string): string[] {
  const text = withoutTexts(sql)
    .replaceAll(doBlock, '')
    .replaceAll(/\bAS \$\$[^]*?\$\$/g, '');
  return [...text.split(';').map((statement) => statement.trim()), ...statementsOfBlocks(sql)];
}

const doBlock = /\bDO (\$\w*\$)([^]*?)\1/gi;
const withoutTexts = (sql: string): string => sql.replaceAll(/--.*$/gm, '').replaceAll(/'[^']*'/g, "''");

/**
 * Returns the statements in the blocks of DO, which squawk does not read. Each begins with its first word that changes or
 * locks something, so that the words of PL/pgSQL before it do not count.
 */
function statementsOfBlocks(sql: string): string[] {
  const first =
    /\b(ALTER|CLUSTER|CREATE|DELETE|DROP|EXECUTE|INSERT|LOCK|MERGE|REFRESH|REINDEX|SELECT|TRUNCATE|UPDATE|VACUUM|WITH)\b[^]*/i;
  return [...withoutTexts(sql).matchAll(doBlock)].flatMap(([, , body]) =>
    body!.split(';').flatMap((piece) => first.exec(piece)?.[0].trim() ?? []),
  );
}
