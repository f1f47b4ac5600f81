import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { isAnswering } from './answering.js';

it('a socket counts as being answered once the head of an answer is sent', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const asked = once(server, 'request') as Promise<[{ socket: Socket }, ServerResponse]>;
  client.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
  const [{ socket }, response] = await asked;
  const seen = [isAnswering(socket)];
  response.flushHeaders();
  seen.push(isAnswering(socket));
  const finished = once(response, 'finish');
  response.end();
  await finished;
  client.destroy();
  server.close();
  expect(seen).toEqual([false, true]);
});
