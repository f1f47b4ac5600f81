import { loadConfig } from './config.js';
import { warningsOfSmallSettings } from './small-settings.js';

test('a retention or a size that is very small is reported with the unit that was read', () => {
  const config = loadConfig({ RETENTION: '30', RETENTION_PAYLOAD: '7', MAX_OUTPUT_BYTES: '32' });
  expect(warningsOfSmallSettings(config)).toEqual([
    expect.stringMatching(/^RETENTION is 30 s, .* seconds\. .* RETENTION=30d\.$/),
    expect.stringMatching(/^RETENTION_PAYLOAD is 7 s, .* seconds\. .* RETENTION_PAYLOAD=7d\.$/),
    expect.stringMatching(/^MAX_OUTPUT_BYTES is 32 bytes\. .* MAX_OUTPUT_BYTES=32m\.$/),
  ]);
});

test('usual settings cause no warning', () => {
  expect(warningsOfSmallSettings(loadConfig({}))).toEqual([]);
  expect(warningsOfSmallSettings(loadConfig({ RETENTION: '1d', MAX_OUTPUT_BYTES: '1m' }))).toEqual([]);
});
