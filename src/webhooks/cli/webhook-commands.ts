import { type Command, InvalidArgumentError } from 'commander';
import { commandOf } from '../../config/package.js';
import type { ApiKey } from '../../auth/api-key.entity.js';
import { type KeyCommands, selectKey } from '../../auth/cli/keys-program.js';
import { clock } from '../../database/clock.js';
import { defaultEvents, type WebhookEventType, webhookEventTypes } from '../webhook-events.js';
import { commandLine } from '../../audit/actor.js';
import type { AuditedWebhooks } from '../audited-webhooks.js';
import type { WebhookEndpoints } from '../webhook-endpoints.js';

export interface KeyWebhooks {
  keys: KeyCommands;
  /** Changes are audited. */
  webhooks: AuditedWebhooks;
  endpoints: WebhookEndpoints;
}

/** Opens the database, passes it to the work, prints what the work returns, and always closes the database. */
type WithWebhooks = (work: (services: KeyWebhooks) => Promise<string>) => Promise<void>;

const keyArgument = 'the key’s id, prefix or name, as list shows them';

/** Adds the commands of `npm run keys` for the webhooks of a key. */
export function addWebhookCommands(program: Command, withWebhooks: WithWebhooks): void {
  const withKey = (
    text: string,
    work: (key: ApiKey, services: KeyWebhooks) => Promise<string>,
  ): Promise<void> =>
    withWebhooks(async (services) =>
      work(selectKey(await services.keys.list(), text, new Date(clock.now())), services),
    );

  const secret = program
    .command('webhook-secret')
    .description('Shows or rotates the secret that signs the webhooks of a key.');
  secret
    .command('show')
    .description('Shows the secret. For a day after a rotation there are two, and both are valid.')
    .argument('<key>', keyArgument)
    .action((text: string) =>
      withKey(text, async ({ id }, { webhooks }) => (await webhooks.secretsOf(commandLine, id)).join('\n')),
    );
  secret
    .command('rotate')
    .description('Makes a new secret. For a day, webhooks are signed with the old one too.')
    .argument('<key>', keyArgument)
    .action((text: string) => withKey(text, ({ id }, { webhooks }) => webhooks.rotate(commandLine, id)));

  const endpoint = program
    .command('webhook-endpoint')
    .description('Adds, lists or removes the endpoints that get the events of all requests of a key.');
  endpoint
    .command('add')
    .description('Adds an endpoint, enables a disabled one again, or changes its events.')
    .argument('<key>', keyArgument)
    .argument('<url>', 'https to a public address, or an address that WEBHOOK_ALLOW lists')
    .option(
      '-e, --events <types>',
      `events, separated by commas: ${webhookEventTypes.join()} (default: ${defaultEvents.join()})`,
      eventsValue,
    )
    .action((text: string, url: string, { events }: { events?: WebhookEventType[] }) =>
      withKey(text, async ({ id, name }, { webhooks }) => {
        const { events: sent } = await webhooks.add(commandLine, { keyId: id, url, events });
        return `From now on, ${sent.join(' and ')} of every request of "${name}" is sent to ${url}`;
      }),
    );
  endpoint
    .command('list')
    .description('Lists the endpoints of a key, or of all keys.')
    .argument('[key]', keyArgument)
    .action((text?: string) =>
      withWebhooks(async ({ keys, endpoints }) => {
        const all = await keys.list();
        const key = text === undefined ? undefined : selectKey(all, text, new Date(clock.now()));
        const names = new Map(all.map(({ id, name }) => [id, name]));
        const lines = (await endpoints.list(key?.id)).map(({ apiKeyId, url, events, disabledAt }) => {
          const isLimited = webhookEventTypes.some((type) => !events.includes(type));
          const only = isLimited ? `  (only ${events.join(', ')})` : '';
          const since = disabledAt === null ? '' : `  (disabled since ${disabledAt.toISOString()})`;
          return `${names.get(apiKeyId) ?? apiKeyId}  ${url}${only}${since}`;
        });
        return lines.length === 0 ? 'There are no endpoints.' : lines.join('\n');
      }),
    );
  endpoint
    .command('remove')
    .description('Removes an endpoint. Its pending deliveries are still sent.')
    .argument('<key>', keyArgument)
    .argument('<url>', 'the URL, as list shows it')
    .action((text: string, url: string) =>
      withKey(text, async ({ id, name }, { webhooks }) => {
        if (await webhooks.remove(commandLine, { keyId: id, url }))
          return `Removed. Requests of "${name}" that complete from now on are not sent to ${url}`;
        throw new Error(
          `"${name}" has no endpoint ${url}. To see them: ${commandOf('keys', 'webhook-endpoint list')}`,
        );
      }),
    );
}

function eventsValue(text: string): WebhookEventType[] {
  const wanted = new Set(text.split(','));
  const types = webhookEventTypes.filter((type) => wanted.has(type));
  if (types.length === wanted.size) return types;
  throw new InvalidArgumentError(`Expected some of ${webhookEventTypes.join(', ')}, separated by commas.`);
}
