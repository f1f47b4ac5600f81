import { createSocket, type Socket } from 'node:dgram';
import type { Resolver as DnsResolver } from 'node:dns/promises';
import { once } from 'node:events';
import { Resolver } from './resolver.js';

/** Starts a name server that knows this one address, under every name. undefined: it knows none. */
async function startNameServer(address?: string): Promise<Socket> {
  const server = createSocket('udp4');
  server.on('message', (query, { port }) => {
    const isForIpv4 = address !== undefined && query.includes(Buffer.from([0, 1, 0, 1]), 12);
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const head = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, isForIpv4 ? 1 : 0, 0, 0, 0, 0]);
    const answer = isForIpv4
      ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 14, 16, 0, 4, ...address.split('.').map(Number)]
      : [];
    server.send(Buffer.concat([head, question, Buffer.from(answer)]), port, '127.0.0.1');
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

class TestResolver extends Resolver {
  /** The name server of the system. */
  system: Socket | undefined;

  protected override nameServers(): DnsResolver {
    const dns = super.nameServers();
    dns.setServers([`127.0.0.1:${this.system!.address().port}`]);
    return dns;
  }
}

test('a lookup uses the current name servers of the system', async () => {
  const servers = [await startNameServer('192.0.2.1'), await startNameServer('192.0.2.2')];
  const resolver = new TestResolver();
  const found: unknown[] = [];
  for (const server of servers) {
    resolver.system = server;
    found.push(await resolver.resolve('hooks.example.com', { isOperators: false, mayBeLocal: false }));
  }
  expect(found).toEqual([[{ address: '192.0.2.1', family: 4 }], [{ address: '192.0.2.2', family: 4 }]]);
  for (const server of servers) server.close();
});

test.each([
  [false, 'a name that DNS does not know is looked up nowhere else', 'ENOTFOUND'],
  [true, 'a name that may be local is looked up by the system too', [{ address: '127.0.0.1', family: 4 }]],
])('mayBeLocal %s: %s', async (mayBeLocal, _, expected) => {
  const system = await startNameServer();
  const resolver = new TestResolver();
  resolver.system = system;
  const found = resolver
    // The system reads it as a number. Name servers know it as little as a name of the hosts file.
    .resolve('0x7f.1', { isOperators: false, mayBeLocal })
    .then((addresses) => addresses.filter(({ family }) => family === 4))
    .catch((error: NodeJS.ErrnoException) => error.code);
  expect(await found).toEqual(expected);
  system.close();
});

test('a name is looked up by the system if no name server can be reached', async () => {
  const system = await startNameServer();
  const resolver = new TestResolver();
  resolver.system = { address: () => address } as Socket;
  const address = system.address();
  await new Promise<void>((closed) => system.close(closed));
  const found = await resolver.resolve('localhost', { isOperators: false, mayBeLocal: false });
  expect(found).toContainEqual({ address: '127.0.0.1', family: 4 });
});

test('a name without a dot that may be local is looked up in no DNS', async () => {
  const found = await new TestResolver().resolve('localhost', { isOperators: false, mayBeLocal: true });
  expect(found).toContainEqual({ address: '127.0.0.1', family: 4 });
});
