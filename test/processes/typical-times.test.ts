import { keyHeader } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({ models: { 'test/model': {}, 'test/rare': {} }, limits: '1000/s' });

interface Model {
  run_time: { p50: number; p95: number } | null;
  queue_time: { p50: number; p95: number } | null;
}

test('a model has typical times of requests that succeeded in the last hour, once there are enough', async () => {
  const ids = await calls.submitAll(8, 'test/model');
  ids.push(await calls.submit('test/model', { status: 400 }));
  const rare = await calls.submitAll(4, 'test/rare');
  await Promise.all([...ids, ...rare].map((id) => calls.reached(id, 'COMPLETED')));
  // Runs of 1 to 8 s after a wait of a minute. The first two began to wait later, and one ended two hours ago.
  for (const [i, id] of ids.slice(0, 8).entries()) {
    await service.query(
      `UPDATE request SET inference_ms = $2 * 1000, created_at = started_at - interval '1 minute' WHERE id = $1`,
      [id, i + 1],
    );
  }
  await service.query(
    `UPDATE request SET not_before = started_at - interval '5 seconds' WHERE id = ANY ($1)`,
    [ids.slice(0, 2)],
  );
  await service.query(`UPDATE request SET inference_ms = 3600000 WHERE id = $1`, [ids[8]]);
  await service.query(`UPDATE attempt SET ended_at = now() - interval '2 hours' WHERE request_id = $1`, [
    ids[7],
  ]);
  const response = await service.get('/v1/models', { headers: keyHeader(service.key) });
  const { data } = (await response.json()) as { data: Model[] };
  expect(data[0]).toMatchObject({ run_time: { p50: 4, p95: 6.7 }, queue_time: { p50: 60, p95: 60 } });
  expect(data[1]).toMatchObject({ run_time: null, queue_time: null });
});
