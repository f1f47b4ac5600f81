import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { startTestService } from './index.js';
import { alike, type Block, blocksOf, commandsOf, firstLine, isRun } from './page-examples.js';
import { cloneOf, modelsOfPages, type PageScene, scenes, type Stage } from './page-scenes.js';
import { PageSession } from './page-session.js';
import { webhookAllow } from './test-webhooks.js';
import { WebhookReceiver } from './webhook-receiver.js';

/** Runs the commands of pages as they are written, each page in a shell of its own, all at one service. */
export function testPages(pages: string[], perBlockMs: number): Stage {
  const stage = { receiver: new WebhookReceiver() } as Stage;
  beforeAll(async () => {
    await stage.receiver.start();
    stage.service = await startTestService({
      limits: '1000/s',
      models: await modelsOfPages(),
      config: { webhookAllow },
    });
  });
  afterAll(async () => {
    await stage.service.stop();
    await stage.receiver.stop();
  });

  describe.each(pages)('%s', (page) => {
    let scene: PageScene;
    let session: PageSession;
    beforeAll(async () => {
      const { service } = stage;
      scene = (await scenes[page]?.(stage)) ?? {};
      const cwd = scene.cwd ?? (await cloneOf(service.databaseUrl));
      const environment = {
        DATABASE_URL: service.databaseUrl,
        BOOTSTRAP_API_KEY: service.key,
        PORT: '0',
        WEBHOOK_ALLOW: '127.0.0.1',
      };
      session = await PageSession.open({ url: service.url, key: service.key, environment, ...scene, cwd });
      for (const block of blocksOf(page)) {
        const path = /\bSave this.* as `(.+)`:$/.exec(block.before)?.[1];
        if (path !== undefined) await writeFile(resolve(cwd, session.here(path)), session.here(block.code));
      }
    }, 120_000);
    afterAll(() => session.close(), 120_000);

    const blocks = commandsOf(page).filter(isRun);
    test.each(blocks)(
      '$name',
      async (block) => {
        if (block.isStarted) await session.start(block.code);
        else expectAsShown(await session.run(block.code, perBlockMs), block, session.url);
        await scene.after?.[firstLine(block.code)]?.(session);
      },
      perBlockMs + 10_000,
    );

    test('nothing that it starts ends by itself, and its checks are those of its blocks', () => {
      const ended = session.started.filter((started) => !started.isRunning());
      expect(ended.map((started) => started.output())).toEqual([]);
      const lines = blocks.map(({ code }) => firstLine(code));
      expect(Object.keys(scene.after ?? {}).filter((line) => !lines.includes(line))).toEqual([]);
    });
  });
  return stage;
}

function expectAsShown(printed: string, { shown }: Pick<Block, 'shown'>, serviceUrl: string): void {
  const actual = printed.trim();
  if (shown === undefined) expect(actual).not.toMatch(/"type":"\/docs\/errors#/);
  else if (isJson(shown)) expect(JSON.parse(actual)).toEqual(alike(JSON.parse(shown), serviceUrl));
  else expect(actual).toEqual(alike(shown.trim(), serviceUrl));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
