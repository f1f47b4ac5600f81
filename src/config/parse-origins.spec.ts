import { parseOrigins } from './parsers.js';

it.each([
  ['https://app.example.org', ['https://app.example.org']],
  ['http://localhost:5173, https://a.example', ['http://localhost:5173', 'https://a.example']],
  ['http://127.0.0.1:8080', ['http://127.0.0.1:8080']],
  ['http://[::1]:8080', ['http://[::1]:8080']],
  ['*', ['*']],
])('%s are origins', (value, origins) => expect(parseOrigins(value)).toEqual(origins));

it.each([
  'localhost:5202',
  'app.example.org',
  'http://localhost:5202/',
  'https://app.example.org/path',
  'https://app.example.org?a',
  'http://*.example.org',
  'https://*',
  '*, https://app.example.org',
  'https://APP.example.org',
  'https://app.example.org:443',
  'https://user@app.example.org',
  'ftp://app.example.org',
  'null',
  'https://a.example https://b.example',
])('%s never matches what a browser sends, and is refused with what to write', (value) => {
  expect(() => parseOrigins(value)).toThrow(/such as https:\/\/app\.example\.org/);
});
