import { parentPort } from 'node:worker_threads';
import { DatabaseProxy } from './database-proxy.js';
import type { ProxyOrder } from './proxy-thread.js';

const proxies = new Map<number, DatabaseProxy>();

parentPort!.on('message', ({ id, order }: { id: number; order: ProxyOrder }) => {
  void execute(order).then((port) => parentPort!.postMessage({ id, port }, []));
});

async function execute(order: ProxyOrder): Promise<number> {
  if (order.do === 'listen') {
    const { target } = order;
    const made = new DatabaseProxy(() => Atomics.load(target, 0));
    proxies.set(order.proxy, made);
    return made.listen();
  }
  const proxy = proxies.get(order.proxy)!;
  if (order.do === 'mute') proxy.muteChannel(order.draw);
  else proxy[order.do]();
  return 0;
}
