import 'reflect-metadata';
import { InvalidArgumentError } from 'commander';
import { validate } from 'uuid';
import { programOf } from './config/program.js';
import { commandLine } from './audit/actor.js';
import { AuditTrail } from './audit/audit-trail.js';
import { AuditEntryEntity } from './audit/entities/audit-entry.entity.js';
import { ServiceSecretEntity } from './auth/entities/service-secret.entity.js';
import { Handles } from './auth/handles.js';
import { ServiceSecrets } from './auth/service-secrets.js';
import { withDatabase } from './command-database.js';
import { runCommandLine } from './command-line.js';
import { loadConfig } from './config/config.js';
import { ClientAddress } from './http/client-address.js';
import { Redaction } from './tools/redaction.js';

interface Translations {
  handles: Handles;
  trail: AuditTrail;
}

/** `npm run requests`. Exit code 0: done. 1: failed, with the reason on standard error. 2: wrong usage. */
const program = programOf(
  'requests',
  'Translates between the ids of requests and the handles that the log and the audit show.',
  `
The key of the handles is in the database that DATABASE_URL names, or else in the embedded one in
DATA_DIR (.data). The commands work whether or not the service is running.`,
).exitOverride();

program
  .command('handle')
  .description('Prints the handle of a request, as it is in the log.')
  .argument('<id...>', 'ids of requests', idValue)
  .action((ids: string[]) => print(({ handles }) => ids.map((id) => handles.handleOf(id))))
  .copyInheritedSettings(program);

program
  .command('id')
  .description(
    'Prints the id of a handle. It gives the right to read and cancel the request, so this is audited.',
  )
  .argument('<handle...>', 'handles, rh_…', handleValue)
  .action((texts: string[]) => print((translations) => toIds(translations, texts)))
  .copyInheritedSettings(program);

await runCommandLine(program);

async function toIds({ handles, trail }: Translations, texts: string[]): Promise<string[]> {
  const ids = texts.map((text) => handles.idOf(text));
  const strange = texts.find((text, i) => ids[i] === text);
  if (strange !== undefined) throw new Error(`${strange} is not a handle of this service.`);
  for (const target of texts) await trail.note(commandLine, { action: 'secret.read', target });
  return ids;
}

async function print(work: (translations: Translations) => string[] | Promise<string[]>): Promise<void> {
  const config = loadConfig();
  const lines = await withDatabase(config, [AuditEntryEntity, ServiceSecretEntity], async (rows) => {
    const handles = new Handles(
      new ServiceSecrets(rows.getRepository(ServiceSecretEntity)),
      new Redaction(config.environment),
    );
    await handles.onModuleInit();
    return work({ handles, trail: new AuditTrail(rows, new ClientAddress(config)) });
  });
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Collects the values of several arguments. */
function idValue(text: string, before: string[] = []): string[] {
  if (validate(text)) return [...before, text.toLowerCase()];
  throw new InvalidArgumentError(
    'Expected the id of a request, such as 01890c3e-5f7a-7b1c-8d2e-0123456789ab.',
  );
}

function handleValue(text: string, before: string[] = []): string[] {
  if (/^rh_[\w-]{22}$/.test(text)) return [...before, text];
  throw new InvalidArgumentError('Expected a handle: rh_ and 22 characters.');
}
