import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { AddressRule } from './addresses/address-rule.js';
import { Resolver } from './addresses/resolver.js';
import { commandLine } from './audit/actor.js';
import { AuditTrail } from './audit/audit-trail.js';
import { AuditedKeys } from './audit/audited-keys.js';
import { AuditEntryEntity } from './audit/entities/audit-entry.entity.js';
import { ApiKey } from './auth/api-key.entity.js';
import { type KeyCommands, keysProgram } from './auth/cli/keys-program.js';
import { SessionEntity } from './auth/entities/session.entity.js';
import { SignInLinkEntity } from './auth/entities/sign-in-link.entity.js';
import { KeysService } from './auth/keys.service.js';
import { linkUrl, SignInLinks } from './auth/sign-in-links.js';
import { type Config, loadConfig, redacted } from './config/config.js';
import { createDataSource } from './database/data-source.js';
import { migrate } from './database/migrate.js';
import { EmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';
import { ClientAddress } from './http/client-address.js';
import { AuditedWebhooks } from './webhooks/cli/audited-webhooks.js';
import { exitNow, onStopSignals } from './tools/stop-signals.js';
import { addWebhookCommands, type KeyWebhooks } from './webhooks/cli/webhook-commands.js';
import { WebhookEndpointEntity } from './webhooks/entities/webhook-endpoint.entity.js';
import { WebhookSecretEntity } from './webhooks/entities/webhook-secret.entity.js';
import { WebhookEndpoints } from './webhooks/webhook-endpoints.js';
import { WebhookSecrets } from './webhooks/webhook-secrets.js';

// An embedded server that was started for this command must be stopped by it: what is begun is undone, and a change that
// is under way completes.
const start = new AbortController();
const interrupted = new Error('Interrupted before anything was changed.');
onStopSignals(() => start.abort(interrupted), exitNow);

/** `npm run keys`. Exit code 0: done; 1: not done, and why on standard error; 2: wrong usage. */
const print = (work: (keys: KeyWebhooks) => Promise<string>): Promise<void> =>
  withKeysOf(loadConfig(), async (keys) => {
    // Before the database is closed, which may fail: a new key is shown only once.
    process.stdout.write(`${await work(keys)}\n`);
  });
const program = keysProgram((work) => print(({ keys }) => work(keys))).exitOverride();
addWebhookCommands(program, print);
inherit(program);

function inherit(parent: Command): void {
  for (const command of parent.commands) inherit(command.copyInheritedSettings(parent));
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    const { name, message } = error as Error;
    process.stderr.write(`${name === 'AbortError' ? interrupted.message : redacted(message)}\n`);
    process.exitCode = 1;
  }
}

/**
 * Works on the keys in the database that the service uses: DATABASE_URL, or the embedded one. A running service holds
 * that one and wrote down where it is; without a service the server is started for as long as it is needed.
 */
async function withKeysOf<T>(config: Config, work: (keys: KeyWebhooks) => Promise<T>): Promise<T> {
  const running = config.databaseUrl ?? (await urlOfRunningServer(config.dataDir));
  const embedded = running === undefined ? new EmbeddedPostgres(config.dataDir) : undefined;
  let dataSource: DataSource | undefined;
  try {
    const url = running ?? (await embedded!.start(start.signal));
    const report = (sentence: string): void => void process.stderr.write(`${sentence}\n`);
    await migrate(config.databaseDirectUrl ?? url, { signal: start.signal, report });
    const entities = [
      ...[ApiKey, AuditEntryEntity, SessionEntity, SignInLinkEntity],
      ...[WebhookEndpointEntity, WebhookSecretEntity],
    ];
    dataSource = await createDataSource({ url, poolSize: 1, entities }).initialize();
    start.signal.throwIfAborted();
    const [rule, rows] = [new AddressRule(config, new Resolver()), dataSource];
    return await work({
      keys: keyCommands(rows, config),
      webhooks: new AuditedWebhooks(
        new WebhookSecrets(rows.getRepository(WebhookSecretEntity), config),
        new WebhookEndpoints(rows.getRepository(WebhookEndpointEntity), rule),
        trailOf(rows, config),
      ),
    });
  } finally {
    await dataSource?.destroy();
    await embedded?.stop();
  }
}

function trailOf(rows: DataSource, config: Config): AuditTrail {
  return new AuditTrail(rows, new ClientAddress(config));
}

/** All that changes something is audited. */
function keyCommands(rows: DataSource, config: Config): KeyCommands {
  const keys = new KeysService(rows.getRepository(ApiKey), config);
  const links = new SignInLinks(rows.getRepository(SignInLinkEntity));
  const audited = new AuditedKeys(keys, links, trailOf(rows, config));
  return {
    list: () => keys.list(),
    create: async (key) => (await audited.create(commandLine, key)).secret,
    update: async (id, changes) => (await audited.update(commandLine, id, changes)) !== undefined,
    revoke: (id) => audited.revoke(commandLine, id),
    link: async (id) => {
      if (!config.console)
        throw new Error('The console is off (CONSOLE=off): there is nothing to sign in to.');
      const base = config.publicBaseUrl ?? `http://${config.host}:${config.port}`;
      return linkUrl(base, await audited.makeLink(commandLine, id));
    },
  };
}

/** The file may have outlived the server, and the port may be another program's by now. */
async function urlOfRunningServer(dataDir: string): Promise<string | undefined> {
  let client: pg.Client | undefined;
  try {
    const url = readFileSync(join(dataDir, 'database-url'), 'utf8').trim();
    client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    await client.connect();
    return url;
  } catch {
    return undefined;
  } finally {
    await client?.end().catch(() => undefined);
  }
}
