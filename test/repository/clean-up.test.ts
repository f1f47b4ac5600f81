import { existsSync } from 'node:fs';
import { temporaryDirectory } from '../support/data-directory.js';

let directory: string;
let later: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => expect([directory, later].map((path) => existsSync(path))).toEqual([true, true]));

test('a directory stays until the file that made it has stopped what uses it', async () => {
  expect(existsSync(directory)).toBe(true);
  later = await temporaryDirectory();
});
