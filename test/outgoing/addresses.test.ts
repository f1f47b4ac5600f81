import { once } from 'node:events';
import { connect, type LookupFunction } from 'node:net';
import { readBeginning } from '../../src/outgoing/answer-body.js';
import type { CallFailure } from '../../src/outgoing/call-failure.js';
import { Outgoing } from '../../src/outgoing/outgoing.js';
import { BlockableServer } from '../support/blockable-server.js';

const outgoing = new Outgoing({ mayRepeat: false });
let server: BlockableServer;

afterEach(async () => {
  outgoing.connections.close();
  await server.stop();
});

/** Returns a look-up that finds these addresses, and calls `then` once a connection to the first has begun. */
function addresses(found: string[], then: () => void): LookupFunction {
  return (_name, _options, answer) => {
    answer(
      null,
      found.map((address) => ({ address, family: 4 })),
    );
    then();
  };
}

function get(lookup: LookupFunction) {
  return outgoing.call({ method: 'GET', url: `http://two.example:${server.port}/`, headers: {}, lookup });
}

test('a host is reached at a first address that takes a second to connect, although the other address refuses', async () => {
  server = await new BlockableServer().start({ isBlocked: true });
  // The backlog is full now, so the next connection is made only when its first packet is sent again, after a second.
  const others = [connect(server.port, '127.0.0.1'), connect(server.port, '127.0.0.1')];
  await Promise.all(others.map((socket) => once(socket, 'connect')));
  const answer = await get(addresses(['127.0.0.1', '127.0.0.2'], () => server.open()));
  expect((await readBeginning(answer.body, 10)).toString()).toBe('{}');
  for (const socket of others) socket.destroy();
});

test('a host whose first address refuses is reached by its other one', async () => {
  server = await new BlockableServer().start();
  const answer = await get(addresses(['127.0.0.2', '127.0.0.1'], () => undefined));
  expect(answer.status).toBe(200);
  answer.close();
});

test('a host that refuses at all addresses causes ECONNREFUSED', async () => {
  server = await new BlockableServer().start();
  const refused = get(addresses(['127.0.0.2', '127.0.0.3'], () => undefined));
  const { code, wasConnected } = await refused.then(
    () => undefined as never,
    (error: CallFailure) => error,
  );
  expect([code, wasConnected]).toEqual(['ECONNREFUSED', false]);
});
