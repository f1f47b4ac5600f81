import 'reflect-metadata';
import type { Command } from 'commander';
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
import { withDatabase } from './command-database.js';
import { runCommandLine } from './command-line.js';
import { type Config, loadConfig } from './config/config.js';
import { ClientAddress } from './http/client-address.js';
import { localUrl } from './http/listen.js';
import { AuditedWebhooks } from './webhooks/audited-webhooks.js';
import { addWebhookCommands, type KeyWebhooks } from './webhooks/cli/webhook-commands.js';
import { WebhookEndpointEntity } from './webhooks/entities/webhook-endpoint.entity.js';
import { WebhookSecretEntity } from './webhooks/entities/webhook-secret.entity.js';
import { WebhookEndpoints } from './webhooks/webhook-endpoints.js';
import { WebhookSecrets } from './webhooks/webhook-secrets.js';

/** `npm run keys`. Exit code 0: done. 1: failed, with the reason on standard error. 2: wrong usage. */
const print = (work: (keys: KeyWebhooks) => Promise<string>): Promise<void> =>
  withKeysOf(loadConfig(), async (keys) => {
    // Printed before the database is closed, which may fail. A new key is shown only once.
    process.stdout.write(`${await work(keys)}\n`);
  });
const program = keysProgram((work) => print(({ keys }) => work(keys))).exitOverride();
addWebhookCommands(program, print);
inherit(program);

function inherit(parent: Command): void {
  for (const command of parent.commands) inherit(command.copyInheritedSettings(parent));
}

await runCommandLine(program);

/** Opens the keys in the service's database. */
function withKeysOf<T>(config: Config, work: (keys: KeyWebhooks) => Promise<T>): Promise<T> {
  const entities = [
    ApiKey,
    AuditEntryEntity,
    SessionEntity,
    SignInLinkEntity,
    WebhookEndpointEntity,
    WebhookSecretEntity,
  ];
  return withDatabase(config, entities, (rows) => {
    const rule = new AddressRule(config, new Resolver());
    const endpoints = new WebhookEndpoints(rows.getRepository(WebhookEndpointEntity), rule);
    return work({
      keys: keyCommands(rows, config),
      endpoints,
      webhooks: new AuditedWebhooks(
        new WebhookSecrets(rows.getRepository(WebhookSecretEntity), config),
        endpoints,
        trailOf(rows, config),
      ),
    });
  });
}

function trailOf(rows: DataSource, config: Config): AuditTrail {
  return new AuditTrail(rows, new ClientAddress(config));
}

/** Every change is audited. */
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
      const base = config.publicBaseUrl ?? localUrl(config.host, config.port);
      return linkUrl(base, await audited.makeLink(commandLine, id));
    },
  };
}
