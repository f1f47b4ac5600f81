import { mkdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { keyHeader } from '../support/built-service.js';
import { MemoryWatch } from '../support/memory-watch.js';
import { interleave } from '../support/rounds.js';
import { plainRow, shown, turnsRow } from '../support/rows.js';

const mib = 1024 * 1024;
const block = Buffer.alloc(mib, 'now serving ');

export const scene = {
  number: 33,
  name: 'files',
  title: 'upload and download of 1 GiB',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const size = (bench.short ? 64 : 1_024) * mib;
    const dataDir = join(bench.directory, 'service-files');
    const floorDir = join(bench.directory, 'floor-files');
    mkdirSync(floorDir);
    const service = await bench.service({
      databaseUrl: await bench.serviceDatabase(),
      env: { DATA_DIR: dataDir },
    });
    const floor = await bench.peer('files.js', { FILES_DIR: floorDir });
    const subjects = {
      bare: () => turn(bareUrls(floor), size),
      service: () => serviceTurn(service, size, dataDir),
    };
    const [ofService, ofFloor] = [service, floor].map(({ pid }) => new MemoryWatch(pid));
    try {
      const measured = await interleave(bench.rounds, subjects);
      const against = 'a plain Node server with fsync';
      const bar = { least: 0.7 };
      return [
        turnsRow('upload MiB/s', measured.service, against, measured.bare, { field: 'up', bar }),
        turnsRow('download MiB/s', measured.service, against, measured.bare, { field: 'down', bar }),
        plainRow('MiB of memory more, at most', ofService.mostMiB, { most: 64 }),
        shown(plainRow('MiB of memory more, the plain server', ofFloor.mostMiB)),
      ];
    } finally {
      ofService.stop();
      ofFloor.stop();
    }
  },
};

const bareUrls = ({ url }) => Promise.resolve({ upload_url: url, file_url: url });

async function serviceTurn({ url }, size, dataDir) {
  const initiate = async () => {
    const body = JSON.stringify({ content_type: 'application/octet-stream', file_name: 'bench.bin' });
    const answer = await fetch(`${url}/v1/storage/upload/initiate`, {
      method: 'POST',
      headers: keyHeader,
      body,
    });
    return answer.json();
  };
  const measured = await turn(initiate(), size);
  for (const one of '0123456789abcdef') {
    for (const other of '0123456789abcdef')
      rmSync(join(dataDir, 'files', one + other), { recursive: true, force: true });
  }
  return measured;
}

/** Measures MiB a second, up and down. */
async function turn(urls, size) {
  const { upload_url: to, file_url: from } = await urls;
  const started = performance.now();
  await upload(to, size);
  const uploaded = performance.now();
  const read = await download(from);
  const ended = performance.now();
  if (read !== size) throw new Error(`${read} of ${size} bytes came back`);
  const perSecond = (ms) => size / mib / (ms / 1_000);
  return { up: perSecond(uploaded - started), down: perSecond(ended - uploaded) };
}

function* blocks(size) {
  for (let left = size; left > 0; left -= mib) yield block;
}

function upload(url, size) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/octet-stream', 'content-length': size };
    const call = http.request(url, { method: 'PUT', headers }, (answer) => {
      answer.resume().on('end', () => {
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`the upload was answered ${answer.statusCode}`));
      });
    });
    pipeline(blocks(size), call).catch(reject);
  });
}

function download(url) {
  return new Promise((resolve, reject) => {
    http
      .get(url, (answer) => {
        let read = 0;
        answer.on('data', (chunk) => (read += chunk.length));
        answer.on('end', () => resolve(read)).on('error', reject);
      })
      .on('error', reject);
  });
}
