import type pg from 'pg';
import { describeDatabase } from './describe-database.js';

interface Rights {
  role: string;
  /** The schema for new tables, which is the first of `search_path` that exists and may be used. */
  schema: string | null;
  mayCreate: boolean;
  /** The owner of the tables with partitions, if the role is neither the owner nor a member of it. */
  strangeOwner: string | null;
}

/** `request` stands for all tables with partitions. Only the owner of these attaches, detaches and drops them. */
const findRights = `
SELECT quote_ident(current_user) AS role, quote_ident(current_schema()) AS schema,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreate",
       (SELECT quote_ident(pg_get_userbyid(relowner)) FROM pg_class
        WHERE oid = to_regclass('request') AND NOT pg_has_role(relowner, 'USAGE')) AS "strangeOwner"`;

/** The schemas that `search_path` names, in its order, and whether they exist. */
const findSchemas = `
SELECT quote_ident(name) AS name, EXISTS (SELECT FROM pg_namespace WHERE nspname = name) AS "isThere"
FROM unnest($1::text[]) WITH ORDINALITY AS path (name, place) ORDER BY place`;

/**
 * Throws if the role lacks a right; the message has the SQL that grants it. Future days need tables: the role must own
 * the tables that are partitioned by day, and must be able to create partitions.
 */
export async function refuseWithoutRights(client: pg.ClientBase, url: string): Promise<void> {
  const { rows } = await client.query<Rights>(findRights);
  const { role, schema, mayCreate, strangeOwner } = rows[0]!;
  if (schema === null)
    throw missing(url, role, 'has no schema for its tables', await schemaFor(client, role));
  if (strangeOwner !== null)
    throw missing(
      url,
      role,
      `does not own the tables in the schema ${schema}, which belong to ${strangeOwner}`,
      `GRANT ${strangeOwner} TO ${role};`,
      'With the roles of deploy/postgres/roles.sql, run grants.sql beside it as nowserving_owner. Otherwise, as',
    );
  if (!mayCreate)
    throw missing(
      url,
      role,
      `may not create tables in the schema ${schema} (it lacks CREATE)`,
      `GRANT CREATE ON SCHEMA ${schema} TO ${role};`,
    );
}

async function schemaFor(client: pg.ClientBase, role: string): Promise<string> {
  const {
    rows: [row],
  } = await client.query<{ path: string; user: string }>(
    `SELECT current_setting('search_path') AS path, current_user AS user`,
  );
  const names = row!.path.split(',').map((part) => part.trim().replace(/^"(.*)"$/, '$1'));
  const schemas = (
    await client.query<{ name: string; isThere: boolean }>(findSchemas, [
      names.filter((name) => name !== '').map((name) => (name === '$user' ? row!.user : name)),
    ])
  ).rows;
  const existing = schemas.find(({ isThere }) => isThere);
  if (existing !== undefined) return `GRANT USAGE, CREATE ON SCHEMA ${existing.name} TO ${role};`;
  return `CREATE SCHEMA ${schemas[0]?.name ?? role} AUTHORIZATION ${role};`;
}

const missing = (url: string, role: string, what: string, line: string, as = 'As'): Error =>
  new Error(
    `The role ${role} ${what} in the database at ${describeDatabase(url)}. ` +
      `${as} the owner of the database or a superuser, run: ${line}`,
  );
