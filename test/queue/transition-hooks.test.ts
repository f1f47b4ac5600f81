import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

test('a hook on starts runs in the transaction of each start, and not for waiting requests', async () => {
  const thread = new Worker(new URL('../support/hooked-starts.ts', import.meta.url));
  const [noted] = (await once(thread, 'message')) as [object[]];
  const [url, common] = ['https://hooks.example/', { has_key: true, same_commit: true }];
  expect(noted).toHaveLength(3);
  expect(noted).toEqual(
    expect.arrayContaining([
      { by: 'submit_started', url: null, ...common },
      { by: 'claim', url, ...common },
      { by: 'claim_for_workers', url, ...common },
    ]),
  );
});
