import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { temporaryDirectory } from '../support/data-directory.js';
import { FileCalls, sha256, someBytes } from '../support/file-calls.js';
import { inParallel } from '../support/in-parallel.js';
import { startTestService } from '../support/index.js';
import { verdict } from '../support/queue-calls.js';

test('ten thousand uploads, hundreds at once, are stored intact and deleted after their expiry', async () => {
  const service = await startTestService({ limits: 'off' });
  const files = new FileCalls(service);
  const count = 10_000;
  const bodies = Array.from({ length: count }, (_, i) =>
    Buffer.from(`${i} ${randomBytes(200).toString('hex')}`),
  );
  const urls = await inParallel(500, bodies, (body) => files.store(body));
  expect(new Set(urls).size).toBe(count);
  await inParallel(200, urls, async (url, i) =>
    expect(sha256(await files.bytes(url))).toBe(sha256(bodies[i]!)),
  );
  expect(await files.onDisk()).toHaveLength(count);
  await service.query(`UPDATE file SET expires_at = now() - interval '1 hour'`);
  const { FilePruner } = await import('../../src/files/duties/file-pruner.js');
  await service.app.get(FilePruner).runOnce();
  expect(await files.onDisk()).toEqual([]);
  expect(await service.query('SELECT FROM file')).toEqual([]);
  await service.stop();
}, 600_000);

test('a file that does not fit on the disk is refused, and earlier and later files are stored', async () => {
  const dataDir = await temporaryDirectory();
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', dataDir]);
  // Not every user may mount. test/files/places.test.ts tests the same with a simulated disk.
  if (mount.status !== 0) return;
  try {
    const service = await startTestService({ limits: 'off', config: { dataDir, reservedDiskBytes: 0 } });
    const files = new FileCalls(service);
    const kept = await files.store(someBytes(1_000_000));
    const { file_url, upload_url } = await files.initiate();
    expect(await verdict(files.put(upload_url, someBytes(6_000_000)))).toEqual([507, 'storage_full']);
    expect(await verdict(fetch(file_url))).toEqual([404, 'unknown_file']);
    expect(await files.onDisk()).toHaveLength(1);
    expect(await files.bytes(kept)).toHaveLength(1_000_000);
    expect((await files.put(upload_url, someBytes(2_000_000))).status).toBe(200);
    await service.stop();
  } finally {
    spawnSync('umount', [dataDir]);
    await rm(dataDir, { recursive: true, force: true });
  }
});
