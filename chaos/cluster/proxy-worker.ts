import { parentPort } from 'node:worker_threads';
import type { ProxyOrder } from './proxy-thread.js';
import { TcpProxy } from './tcp-proxy.js';

const proxies = new Map<number, TcpProxy>();

parentPort!.on('message', ({ id, order }: { id: number; order: ProxyOrder }) => {
  void execute(order).then((port) => parentPort!.postMessage({ id, port }, []));
});

async function execute(order: ProxyOrder): Promise<number> {
  if (order.do === 'listen') {
    const { targets } = order;
    let next = order.proxy;
    const made = new TcpProxy(() => Atomics.load(targets, next++ % targets.length));
    proxies.set(order.proxy, made);
    return made.listen();
  }
  const proxy = proxies.get(order.proxy)!;
  if (order.do === 'muteChannel') proxy.muteChannel(order.draw);
  else if (order.do === 'close') await proxy.close();
  else proxy[order.do]();
  return 0;
}
