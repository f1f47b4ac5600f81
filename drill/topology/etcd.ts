import { join } from 'node:path';
import { Daemon } from './daemon.js';

export interface EtcdPorts {
  client: number;
  peer: number;
}

/** Returns the members of an etcd cluster. On a busy machine the defaults of the two times would make elections. */
export function etcdMembers(program: string, directory: string, ports: readonly EtcdPorts[]): Daemon[] {
  const name = (i: number): string => `etcd-${i + 1}`;
  const url = (port: number): string => `http://127.0.0.1:${port}`;
  const all = ports.map(({ peer }, i) => `${name(i)}=${url(peer)}`).join(',');
  return ports.map(({ client, peer }, i) => {
    const settings = {
      name: name(i),
      'data-dir': join(directory, `${name(i)}-data`),
      'listen-client-urls': url(client),
      'advertise-client-urls': url(client),
      'listen-peer-urls': url(peer),
      'initial-advertise-peer-urls': url(peer),
      'initial-cluster': all,
      'initial-cluster-state': 'new',
      'heartbeat-interval': '300',
      'election-timeout': '3000',
    };
    const args = Object.entries(settings).map(([key, value]) => `--${key}=${value}`);
    return new Daemon({ name: name(i), program, args, directory });
  });
}

/** Returns whether the members have agreed on the version of the cluster. */
export async function hasVersion(clientPort: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${clientPort}/version`, {
    signal: AbortSignal.timeout(2_000),
  });
  return ((await answer.json()) as { etcdcluster: string }).etcdcluster !== 'not_decided';
}
