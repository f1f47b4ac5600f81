import { ModelsService } from '../../src/models/models.service.js';
import { startTestService, type TestService, type TestServiceOptions } from '../support/index.js';

const started: TestService[] = [];

async function start(options?: TestServiceOptions): Promise<TestService> {
  started.push(await startTestService(options));
  return started.at(-1)!;
}

afterEach(async () => {
  while (started.length > 0) await started.pop()!.stop();
});

describe('the models of a service', () => {
  it('are those of the file, and have rows in the model table', async () => {
    const service = await start();
    const models = service.app.get(ModelsService);
    expect(models.get('demo/text/echo')?.timeoutMs).toBe(10_000);
    expect(models.get('constructor')).toBeUndefined();
    const rows = await service.query('SELECT id, runner, timeout_ms, attempts FROM model ORDER BY id');
    expect(rows).toEqual([
      { id: 'demo/image/fractal', runner: 'demo:fractal', timeout_ms: 300_000, attempts: 3 },
      { id: 'demo/text/echo', runner: 'demo:echo', timeout_ms: 10_000, attempts: 3 },
      { id: 'demo/text/flaky', runner: 'demo:flaky', timeout_ms: 60_000, attempts: 3 },
      { id: 'demo/text/story', runner: 'demo:story', timeout_ms: 300_000, attempts: 3 },
    ]);
    expect(new Set(models.all().map(({ id }) => id))).toEqual(new Set(rows.map(({ id }) => id)));
  });

  it('change in the table with the file; those that left the file keep their row', async () => {
    const first = await start();
    const models =
      'models:\n  - { id: demo/text/echo, timeout: 3s, expires: 90d, runner: { kind: demo, demo: echo } }\n';
    await start({ models, config: { databaseUrl: first.databaseUrl } });
    const [echo, ...others] = await first.query(
      `SELECT id, timeout_ms, expires_ms FROM model ORDER BY id <> 'demo/text/echo', id`,
    );
    expect(echo).toMatchObject({ timeout_ms: 3_000, expires_ms: 90 * 86_400_000 });
    expect(others).toHaveLength(3);
  });

  it('have environment variables of the service in their headers', async () => {
    const models =
      'models:\n  - { id: a, runner: { kind: http, url: "http://127.0.0.1:9", headers: { x-key: "${KEY}" } } }\n';
    const service = await start({ models, config: { environment: { KEY: 'secret' } } });
    const [model] = service.app.get(ModelsService).all();
    expect(model!.runner).toMatchObject({ headers: { 'x-key': 'secret' } });
  });

  it('with a fault stop the start, with every line named', async () => {
    const models = 'models:\n  - id: a b\n    runner: { kind: demo, demo: echo }\n    timout: 3s\n';
    await expect(start({ models })).rejects.toThrow(
      /models\.yaml line 2: id: .*\n.*models\.yaml line 4: unknown option "timout", did you mean "timeout"\?$/,
    );
  });
});
