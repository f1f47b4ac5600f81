import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(`${root}/${file}`, 'utf8');
const filesIn = (folder: string): string[] =>
  readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .map((file) => `${folder}/${file}`);

/** The room that writes each table. Other rooms may read it. */
const owners: Record<string, readonly string[]> = {
  adapters: ['abandoned_call', 'planned_cancel'],
  audit: ['audit_entry'],
  batches: ['batch', 'batch_line', 'batch_segment', 'erased_line'],
  auth: ['api_key', 'key_change', 'service_secret', 'session', 'sign_in_link'],
  files: ['file', 'file_place', 'stored_files'],
  limits: ['limit_ask', 'limit_holder', 'limit_share'],
  models: ['model'],
  operations: ['operation', 'operation_member'],
  overview: ['key_use', 'model_activity'],
  queue: [
    // history
    'request',
    'attempt',
    'request_event',
    'output_delta',
    'run_times',
    // current work
    'queue_entry',
    'delayed_entry',
    'lease',
    'idempotency_key',
    'file_use',
    'followed_run',
    // who runs it
    'node',
    'node_name',
    'worker',
    'slot_grant',
    'circuit',
    'suspect',
    'quarantine',
  ],
  webhooks: ['receiver_activity', 'webhook_delivery', 'webhook_endpoint', 'webhook_secret'],
};

/** Views through which a room writes a table of its own. */
const views: Record<string, string> = { recent_request: 'request' };

/** Files that write a table of another room, or one that the text does not name. */
const exceptions: Record<string, readonly string[]> = {
  // Nothing of a request may be left when it is erased, so one statement erases it in all tables, whatever modules a
  // process has.
  'src/queue/retention/queries/erase.ts': ['webhook_delivery', 'erased_line'],
  // A file is removed together with its last use, under a lock on the file.
  'src/files/queries/prune-files.ts': ['file_use'],
  // The type of the parameter allows queue_entry and delayed_entry.
  'src/queue/waiting/queries/insert-entries.ts': ['${table}'],
  'src/queue/runs/queries/claim.ts': ['${table}'],
};

const roomOf = new Map(Object.entries(owners).flatMap(([room, tables]) => tables.map((one) => [one, room])));
const sources = filesIn('src');

const comments = /\/\*[^]*?\*\/|^\s*\/\/.*$/gm;
const writes =
  /(?:\bINSERT INTO|(?<!\b(?:FOR|KEY|DO|BEFORE|AFTER|OR) )\bUPDATE|\bDELETE FROM|\bTRUNCATE|@Entity\(')\s*(\w+|\$\{\w+\})/g;

function tablesWrittenIn(file: string): string[] {
  return [...read(file).replace(comments, '').matchAll(writes)].map(([, table]) => views[table!] ?? table!);
}

describe('tables', () => {
  it('each have one room that writes them', () => {
    const made = filesIn('migrations').flatMap((file) =>
      [...read(file).matchAll(/CREATE TABLE (\w+)/g)].map(([, table]) => table!),
    );
    expect([...roomOf.keys()].sort()).toEqual(made.sort());
  });

  it('are written by their rooms only', () => {
    const all = sources.flatMap((file) => tablesWrittenIn(file).map((table) => ({ file, table })));
    expect(all.length).toBeGreaterThan(100);
    const foreign = all.filter(({ file, table }) => roomOf.get(table) !== file.split('/')[1]);
    const unknown = foreign.filter(({ file, table }) => exceptions[file]?.includes(table) !== true);
    expect(unknown.map(({ file, table }) => `${file} writes ${table}`)).toEqual([]);
    const needed = new Set(foreign.map(({ file }) => file));
    expect(Object.keys(exceptions).filter((file) => !needed.has(file))).toEqual([]);
  });

  it('are imported by other rooms as row types only', () => {
    const values = sources.filter((file) => {
      const imports = read(file).matchAll(/^import (?!type ).*'(\.\.?\/.*)\/[\w-]+\.entity\.js'/gm);
      return [...imports].some(([, folder]) => isOtherRoom(file, folder!));
    });
    // The commands at the top of src connect the rooms.
    expect(values.filter((file) => file.split('/').length > 2)).toEqual([]);
  });
});

function isOtherRoom(file: string, folder: string): boolean {
  const { pathname } = new URL(`${folder}/`, `file:///${file}`);
  return pathname.split('/')[2] !== file.split('/')[1];
}
