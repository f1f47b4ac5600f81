import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type pg from 'pg';
import { NotifyChannel } from '../../src/database/notify-channel.js';
import { createTestDatabase, type TestDatabase, until } from '../support/index.js';

/** Shows the connections of a channel to the tests. */
interface Connections {
  listening: pg.Client;
  sending: pg.Client;
}

let database: TestDatabase;
let channel: NotifyChannel;
let reconnections: number;
const received: string[] = [];

beforeAll(() => Logger.overrideLogger(false));
beforeEach(async () => {
  database = await createTestDatabase();
  channel = new NotifyChannel(database.url);
  reconnections = 0;
  channel.listen('test', (body) => received.push(body));
  await channel.start({
    message: () => undefined,
    reconnected: () => reconnections++,
    collect: () => [],
    minIntervalMs: () => 0,
  });
});
afterEach(async () => {
  await channel.stop();
  await database.drop();
});

const connections = (): Connections => ({ ...(channel as unknown as Connections) });

/** Ends the sessions of the channel, and waits until it has others. */
async function reconnected(): Promise<Connections> {
  await database.run(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'nowserving channel' AND datname = current_database()`,
  );
  await until(() => reconnections === 1, { message: 'the channel has connected again' });
  return connections();
}

async function expectUnchanged({ listening, sending }: Connections): Promise<void> {
  await nextTurn();
  expect([connections().listening === listening, connections().sending === sending]).toEqual([true, true]);
  channel.sendNow('test', 'hello');
  await until(() => received.splice(0).includes('hello'), { message: 'a message arrives' });
  expect(reconnections).toBe(1);
}

test.each(['error', 'end'])(
  'a late %s of a lost connection leaves the new connections open',
  async (event) => {
    const old = connections();
    const current = await reconnected();
    for (const client of [old.listening, old.sending]) client.emit(event, new Error('read ECONNRESET'));
    await expectUnchanged(current);
  },
);

test('a message that fails late on a lost connection leaves the new connections open', async () => {
  const old = connections();
  let fail: (error: Error) => void = () => undefined;
  old.sending.query = (() => new Promise((_, reject) => (fail = reject))) as pg.Client['query'];
  channel.sendNow('test', 'lost');
  const current = await reconnected();
  fail(new Error('Query read timeout'));
  await expectUnchanged(current);
});
