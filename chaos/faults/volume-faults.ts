import { now, sleep, within } from '../clock.js';
import type { Cluster } from '../cluster/cluster.js';
import type { ServiceNode } from '../cluster/service-node.js';
import type { FaultKind } from './fault.js';

const uploadBytes = 200_000;
const uploadEveryMs = 500;
/** How long after the heal an upload may still be refused. */
const uploadGraceMs = 15_000;

interface Uploaded {
  status: number;
  code: string | undefined;
}

export const volumeFaults: readonly FaultKind[] = [
  {
    name: 'volume full',
    hits: 'database',
    // PostgreSQL may have ended without room for its log: it is started again after 1 s, and recovers.
    graceMs: 15_000,
    async make({ cluster, random, violate, count }) {
      const volume = cluster.volume!;
      const until = now() + random.between(4_000, 15_000);
      try {
        while (now() < until) {
          await volume.fill();
          for (const node of cluster.apiNodes) judge(await upload(cluster, node), node);
          await sleep(uploadEveryMs);
        }
      } finally {
        await volume.free();
      }
      for (const node of cluster.apiNodes) {
        const isStored = async (): Promise<boolean> => (await upload(cluster, node))?.status === 200;
        if (await within(uploadGraceMs, isStored)) count('uploads stored after a volume was full');
        else violate('a volume with room again takes uploads within 15 s', node.name);
      }

      function judge(uploaded: Uploaded | undefined, node: ServiceNode): void {
        const { status, code } = uploaded ?? {};
        count(`uploads while the volume was full: ${status ?? 'no answer'}`);
        const isSound = status === 200 || (status === 507 ? code === 'storage_full' : status === 503);
        if (status !== undefined && !isSound)
          violate('a full volume refuses uploads with 507 or 503', `${node.name}: ${status} ${code}`);
      }
    },
  },
];

/** undefined: the connection failed. */
async function upload({ callers }: Cluster, { url }: ServiceNode): Promise<Uploaded | undefined> {
  const { headers } = callers.probe;
  const call = async (method: string, to: string, init: RequestInit): Promise<Uploaded & { to?: string }> => {
    const answer = await fetch(to, { method, signal: AbortSignal.timeout(20_000), ...init });
    const body = (await answer.json()) as { code?: string; upload_url?: string };
    return { status: answer.status, code: body.code, to: body.upload_url };
  };
  try {
    const type = 'application/octet-stream';
    const begun = await call('POST', `${url}/v1/storage/upload/initiate`, {
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ content_type: type }),
    });
    if (begun.to === undefined) return begun;
    return await call('PUT', begun.to, {
      headers: { 'content-type': type },
      body: Buffer.alloc(uploadBytes),
    });
  } catch {
    return undefined;
  }
}
