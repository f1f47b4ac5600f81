import { createHook } from 'node:async_hooks';
import { readdirSync, readFileSync } from 'node:fs';
import { adapters } from '../../src/config/adapter.js';
import { Database } from '../../src/database/database.js';
import { OtherApis } from '../../src/http/other-apis.js';
import type { TestService } from '../support/index.js';
import { testQueue } from '../support/test-queue.js';

const models = { 'acme/text': {} };
const plain = testQueue({ limits: 'off', models });
const adapted = testQueue({ limits: 'off', models, config: { adapters: [...adapters] } });

interface Layer {
  name: string;
  route?: unknown;
  match(path: string): boolean;
}

/** The middleware that a call of the queue passes, if the fast path does not serve it. */
const middlewareOf = ({ app }: TestService): string[] =>
  (app.getHttpAdapter().getInstance() as unknown as { router: { stack: Layer[] } }).router.stack
    .filter((layer) => layer.route === undefined && layer.match('/v1/queue/acme/text'))
    .map(({ name }) => name);

test('adapters add no middleware to the calls of the queue', () => {
  expect(middlewareOf(adapted.service).length).toBeGreaterThan(3);
  expect(middlewareOf(adapted.service)).toEqual(middlewareOf(plain.service));
});

test('the fast path asks no adapter, and adapters add no statement and no timer to it', async () => {
  const { service, calls } = adapted;
  const statements = new Set<string>();
  const database = service.app.get(Database);
  const { onStatement } = database;
  database.onStatement = (name, ms) => {
    statements.add(name);
    onStatement?.(name, ms);
  };
  const apis = service.app.get(OtherApis);
  apis.of = () => {
    throw new Error('The fast path has asked for another API.');
  };
  const timers: string[] = [];
  const hook = createHook({
    init: (_id, type) => {
      const stack = type === 'Timeout' ? (new Error().stack ?? '') : '';
      if (/\/src\/adapters\/(?!duties\/)/.test(stack)) timers.push(stack);
    },
  }).enable();
  try {
    for (let nth = 0; nth < 10; nth++) await calls.run('acme/text', { nth });
  } finally {
    hook.disable();
    database.onStatement = onStatement;
    Reflect.deleteProperty(apis, 'of');
  }
  expect(timers).toEqual([]);
  expect(statements.size).toBeGreaterThan(1);
  // The duty that looks for closed calls runs by itself, every 30 s.
  const own = namesIn('src/adapters').filter((name) => name !== 'due_abandoned_calls');
  expect(own.length).toBeGreaterThan(2);
  expect(own.filter((name) => statements.has(name))).toEqual([]);
});

/** The names of the statements of a room. */
function namesIn(room: string): string[] {
  return readdirSync(room, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(`${room}/${file}`, 'utf8').matchAll(/\bstatement(?:OfDays)?\(\s*'(\w+)'/g),
    ])
    .map(([, name]) => name!);
}
