import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/data-directory.js';
import { someBytes } from '../support/file-calls.js';
import { spawnService, type SpawnedService, until } from '../support/index.js';

const key = 'a-key-of-the-full-disk';
const headers = { authorization: `Key ${key}` };
const megabyte = 1024 * 1024;

interface Answered {
  status: number;
  body: Record<string, unknown> & { detail?: string; request_id?: string };
}

async function call(service: SpawnedService, method: string, path: string, body?: object): Promise<Answered> {
  const answer = await fetch(new URL(path, service.url), {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Answered['body'] };
}

/** Fills the rest of the disk. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  const block = Buffer.alloc(megabyte);
  try {
    for (let bytes = block.length; bytes >= 512; bytes /= 2) {
      try {
        for (;;) if (writeSync(file, block, 0, bytes) < bytes) break;
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
      }
    }
  } finally {
    closeSync(file);
  }
}

test('uploads leave room for the database, a full disk is reported, and no accepted request is lost', async () => {
  const volume = await temporaryDirectory();
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=0755', 'tmpfs', volume]);
  // Not every user may mount. test/files/full-disk.test.ts tests the same with a simulated disk.
  if (mount.status !== 0) return;
  let service: SpawnedService | undefined;
  try {
    service = await spawnService({
      DATA_DIR: join(volume, 'data'),
      BOOTSTRAP_API_KEY: key,
      RATE_LIMIT_SUBMIT: 'off',
      RATE_LIMIT_OTHER: 'off',
      LOG_FORMAT: 'json',
    });
    const node = service;
    const submit = (text = 'hello'): Promise<Answered> =>
      call(node, 'POST', '/v1/queue/demo/text/echo', { text });
    const ready = (): Promise<Answered> => call(node, 'GET', '/health/ready');

    // One key uses all space that files may have.
    const upload = async (): Promise<number> => {
      const begun = await call(node, 'POST', '/v1/storage/upload/initiate', { content_type: 'image/png' });
      if (begun.status !== 200) return begun.status;
      const answer = await fetch(String(begun.body['upload_url']), {
        method: 'PUT',
        headers: { 'content-type': 'image/png' },
        body: someBytes(4 * megabyte),
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    let stored = 0;
    for (let status = await upload(); status !== 507; status = await upload()) {
      expect(status).toBe(200);
      stored++;
    }
    expect(stored).toBeGreaterThan(5);
    const accepted: string[] = [];
    for (let i = 0; i < 50; i++) {
      const { status, body } = await submit();
      expect(status).toBe(202);
      accepted.push(body.request_id!);
    }
    expect((await ready()).status).toBe(200);

    // Something else uses the rest.
    const ballast = join(volume, 'ballast');
    fill(ballast);
    const refused = await until(
      async () => {
        const { status, body } = await submit('x'.repeat(200_000));
        if (status === 202) accepted.push(body.request_id!);
        return status === 503 && /disk is full/.test(body.detail ?? '') && body;
      },
      {
        message: 'a submission finds the disk full',
        explain: () => node.output.slice(-2_000),
      },
    );
    expect(refused).toMatchObject({ code: 'unavailable' });
    await until(() => node.output.includes("the database's disk is full"), {
      message: 'the log names the disk',
    });
    await until(async () => {
      const { status, body } = await ready();
      return status === 503 && /storage.*disk/.test(body.detail ?? '');
    });

    rmSync(ballast);
    await until(async () => (await ready()).status === 200, {
      message: 'the node is ready again',
      explain: () => node.output.slice(-2_000),
    });
    accepted.push((await submit()).body.request_id!);
    for (const id of accepted)
      await until(
        async () =>
          (await call(node, 'GET', `/v1/queue/requests/${id}/status`)).body['status'] === 'COMPLETED',
      );
    for (const id of accepted) expect((await call(node, 'GET', `/v1/queue/requests/${id}`)).status).toBe(200);
    await service.stop();
  } finally {
    service?.destroy();
    // A killed process may have it open for a moment.
    spawnSync('umount', ['--lazy', volume]);
  }
}, 300_000);

test('a process logs that it is at its limit of open files, and restarts an embedded database that ends', async () => {
  const directory = await temporaryDirectory();
  const service = await spawnService({
    DATA_DIR: join(directory, 'data'),
    BOOTSTRAP_API_KEY: key,
    LOG_FORMAT: 'json',
  });
  const isReady = async (): Promise<boolean> =>
    (await call(service, 'GET', '/health/ready').catch(() => undefined))?.status === 200;
  const said = (text: string): Promise<unknown> =>
    until(() => service.output.includes(text), { explain: () => service.output });

  const kept = await call(service, 'POST', '/v1/queue/demo/text/echo', { text: 'kept' });
  expect(kept.status).toBe(202);
  const pidFile = readFileSync(join(directory, 'data/postgres/postmaster.pid'), 'utf8');
  process.kill(Number(pidFile.split('\n')[0]), 'SIGQUIT');
  await said('is started again');
  await until(isReady, { explain: () => service.output.slice(-2_000) });
  await until(async () => {
    const { body } = await call(service, 'GET', `/v1/queue/requests/${kept.body.request_id}`);
    return body['text'] === 'kept';
  });

  const limited = spawnSync('prlimit', ['--pid', String(service.pid), '--nofile=80:80']);
  expect([limited.status, limited.stderr.toString()]).toEqual([0, '']);
  const { hostname: host, port } = new URL(service.url);
  const sockets = Array.from({ length: 100 }, () =>
    connect({ host, port: Number(port) }).on('error', () => undefined),
  );
  await said('at its limit of open files (ulimit -n)');
  for (const socket of sockets) socket.destroy();
  await until(isReady);
  await service.stop();
}, 300_000);
