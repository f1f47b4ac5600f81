import { localUrl } from './listen.js';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:3000'],
  ['queue.internal', 'http://queue.internal:3000'],
  ['0.0.0.0', 'http://127.0.0.1:3000'],
  ['::', 'http://[::1]:3000'],
  ['fd00::7', 'http://[fd00::7]:3000'],
])('a server that listens on %s is reached at %s', (host, url) => expect(localUrl(host, 3_000)).toBe(url));
