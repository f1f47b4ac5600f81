import { existsSync } from 'node:fs';
import { temporaryDirectory } from '../support/data-directory.js';

let directory: string;
let later: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => expect([directory, later].map((path) => existsSync(path))).toEqual([true, true]));

test('a temporary directory exists until the afterAll hooks of its test file have run', async () => {
  expect(existsSync(directory)).toBe(true);
  later = await temporaryDirectory();
});
