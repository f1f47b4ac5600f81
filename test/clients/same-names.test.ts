import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/page-examples.js';

const typescript = (file: string): string => readFileSync(join(root, 'clients/typescript/src', file), 'utf8');
const python = (file: string): string => readFileSync(join(root, 'clients/python/nowserving', file), 'utf8');

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const found = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name]) => name!).sort();
const unique = (names: string[]): string[] => [...new Set(names)];

/** Returns the text from the head of a class or interface to the line that ends it. */
function bodyOf(text: string, head: RegExp, end: RegExp): string {
  const start = text.search(head);
  expect(start).toBeGreaterThanOrEqual(0);
  const body = text.slice(text.indexOf('\n', start) + 1);
  const length = body.search(end);
  return length < 0 ? body : body.slice(0, length);
}

const classOf = (file: string, name: string): string =>
  bodyOf(typescript(file), new RegExp(`^export class ${name} `, 'm'), /^\}/m);
const interfaces = typescript('types.ts') + typescript('options.ts');
const interfaceOf = (name: string): string =>
  bodyOf(interfaces, new RegExp(`^export interface ${name} `, 'm'), /^\}/m);
const pythonClass = (file: string, name: string): string =>
  bodyOf(python(file), new RegExp(`^class ${name}\\b`, 'm'), /^\S/m);

const methodsInTypescript = (file: string, name: string): string[] =>
  unique(
    found(classOf(file, name), /^ {2}(?:async )?\*?(?!constructor)([a-z]\w*)(?:<[^(]*>)?\(/gm).map(snake),
  );
const methodsInPython = (file: string, name: string): string[] =>
  unique(found(pythonClass(file, name), /^ {4}(?:async )?def ([a-z]\w*)\(/gm));
const membersInTypescript = (name: string): string[] =>
  found(interfaceOf(name), /^ {2}(\w+)\??:/gm)
    .map(snake)
    .sort();
const membersInPython = (name: string): string[] => found(pythonClass('types.py', name), /^ {4}(\w+): /gm);

describe('the clients for TypeScript and Python have the same names', () => {
  test.each([
    // Only the Python client holds connections of its own, which it closes.
    ['Client', 'client.ts', '_client.py', ['close']],
    ['Batches', 'batches.ts', '_resources.py', []],
    ['WebhookEndpoints', 'webhook-endpoints.ts', '_resources.py', []],
  ])('for the calls of %s', (name, ours, theirs, onlyPython) => {
    const calls = methodsInTypescript(ours, name);
    expect(calls.length).toBeGreaterThan(2);
    expect([...calls, ...onlyPython].sort()).toEqual(methodsInPython(theirs, name));
  });

  test.each([
    // In Python idempotency_key is a parameter of the calls that take it.
    ['RequestOptions', 'Options', ['idempotency_key']],
    ['Filter', 'Filters', []],
    ['BatchOptions', 'BatchOptions', ['idempotency_key']],
  ])('for the members of %s', (ours, theirs, onlyTypescript) => {
    const members = membersInTypescript(ours);
    expect(members.length).toBeGreaterThan(2);
    expect(members).toEqual([...membersInPython(theirs), ...onlyTypescript].sort());
  });

  test('for a line of a batch', () => {
    expect(membersInTypescript('BatchLine')).toEqual(
      [...membersInPython('_BatchLine'), ...membersInPython('BatchLine')].sort(),
    );
  });
});

test('each duration in the clients has its unit, the second, in its name', () => {
  const durations = /^ {2,4}(?:private |readonly )*(?:timeout|delay|expires|wait|deadline|hold)\??: /gm;
  for (const file of ['types.ts', 'client.ts', 'batches.ts']) expect(typescript(file)).not.toMatch(durations);
  expect(interfaceOf('RequestOptions')).not.toMatch(durations);
  for (const file of ['types.py', '_client.py', '_async_client.py', '_resources.py'])
    expect(python(file)).not.toMatch(/^ +(?:self, )?(?:timeout|delay|expires|wait|deadline|hold): /gm);
});
