import type { Command } from 'commander';
import type { ApiKey } from '../../auth/api-key.entity.js';
import { type KeyCommands, selectKey } from '../../auth/cli/keys-program.js';
import type { AuditedWebhooks } from './audited-webhooks.js';

export interface KeyWebhooks {
  keys: KeyCommands;
  webhooks: AuditedWebhooks;
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
    withWebhooks(async (services) => work(selectKey(await services.keys.list(), text, new Date()), services));

  const secret = program
    .command('webhook-secret')
    .description('Shows or rotates what the webhooks of a key are signed with.');
  secret
    .command('show')
    .description('Shows it; the older of two counts until it has been rotated for a day.')
    .argument('<key>', keyArgument)
    .action((text: string) =>
      withKey(text, async ({ id }, { webhooks }) => (await webhooks.secretsOf(id)).join('\n')),
    );
  secret
    .command('rotate')
    .description('Makes a new one. For a day webhooks are signed with both.')
    .argument('<key>', keyArgument)
    .action((text: string) => withKey(text, ({ id }, { webhooks }) => webhooks.rotate(id)));

  const endpoint = program
    .command('webhook-endpoint')
    .description('Says where a key is called for all its requests.');
  endpoint
    .command('add')
    .description('Adds one, or enables one that was disabled by a 410.')
    .argument('<key>', keyArgument)
    .argument('<url>', 'https to a public address, or what WEBHOOK_ALLOW names')
    .action((text: string, url: string) =>
      withKey(text, async ({ id, name }, { webhooks }) => {
        await webhooks.add(id, url);
        return `All requests of "${name}" that complete from now on are sent to ${url}`;
      }),
    );
  endpoint
    .command('list')
    .description('Shows those of a key, or all.')
    .argument('[key]', keyArgument)
    .action((text?: string) =>
      withWebhooks(async ({ keys, webhooks }) => {
        const all = await keys.list();
        const key = text === undefined ? undefined : selectKey(all, text, new Date());
        const names = new Map(all.map(({ id, name }) => [id, name]));
        const lines = (await webhooks.list(key?.id)).map(({ apiKeyId, url, disabledAt }) => {
          const since =
            disabledAt === null ? '' : `  (answered 410 at ${disabledAt.toISOString()}, not called)`;
          return `${names.get(apiKeyId) ?? apiKeyId}  ${url}${since}`;
        });
        return lines.length === 0 ? 'There are no endpoints.' : lines.join('\n');
      }),
    );
  endpoint
    .command('remove')
    .description('Removes one. What is pending for it is still sent.')
    .argument('<key>', keyArgument)
    .argument('<url>', 'as list shows it')
    .action((text: string, url: string) =>
      withKey(text, async ({ id, name }, { webhooks }) => {
        if (await webhooks.remove(id, url)) return `"${name}" is not called at ${url} any more.`;
        throw new Error(
          `"${name}" has no endpoint ${url}. To see them: npm run keys -- webhook-endpoint list`,
        );
      }),
    );
}
