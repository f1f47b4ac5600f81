import { ModelsService } from '../../src/models/models.service.js';
import { startTestService } from '../support/index.js';

const demos = ['demo/image/fractal', 'demo/text/echo', 'demo/text/flaky'];

describe('the models of a service', () => {
  it('are those of the file, and stand in the model table', async () => {
    const service = await startTestService();
    try {
      const models = service.app.get(ModelsService);
      expect(
        models
          .all()
          .map(({ id }) => id)
          .sort(),
      ).toEqual(demos);
      expect(models.get('demo/text/echo')?.timeoutMs).toBe(10_000);
      expect(models.get('constructor')).toBeUndefined();
      const rows = await service.query('SELECT id, runner, timeout_ms, attempts FROM model ORDER BY id');
      expect(rows).toEqual([
        { id: 'demo/image/fractal', runner: 'demo:fractal', timeout_ms: 300_000, attempts: 3 },
        { id: 'demo/text/echo', runner: 'demo:echo', timeout_ms: 10_000, attempts: 3 },
        { id: 'demo/text/flaky', runner: 'demo:flaky', timeout_ms: 60_000, attempts: 3 },
      ]);
    } finally {
      await service.stop();
    }
  });

  it('change in the table with the file; those that left the file keep their row', async () => {
    const first = await startTestService();
    try {
      const models =
        'models:\n  - { id: demo/text/echo, timeout: 3s, expires: 90d, runner: { kind: demo, demo: echo } }\n';
      const second = await startTestService({ models, config: { databaseUrl: first.databaseUrl } });
      try {
        const [echo, ...others] = await first.query(
          `SELECT id, timeout_ms, expires_ms FROM model ORDER BY id <> 'demo/text/echo', id`,
        );
        expect(echo).toMatchObject({ timeout_ms: 3_000, expires_ms: 90 * 86_400_000 });
        expect(others).toHaveLength(2);
      } finally {
        await second.stop();
      }
    } finally {
      await first.stop();
    }
  });

  it('with a fault stop the start, with every line named', async () => {
    const models = 'models:\n  - id: a b\n    runner: { kind: demo, demo: echo }\n    timout: 3s\n';
    await expect(startTestService({ models })).rejects.toThrow(
      /models\.yaml line 2: id: .*\n.*models\.yaml line 4: unknown option "timout", did you mean "timeout"\?$/,
    );
  });
});
