import { fingerprintOf } from './fingerprint.js';

it('another model or another body is another request', () => {
  const fingerprint = fingerprintOf('a/b', '{}').toString('hex');
  expect(fingerprintOf('a/b', '{}').toString('hex')).toBe(fingerprint);
  expect(fingerprintOf('a/c', '{}').toString('hex')).not.toBe(fingerprint);
  expect(fingerprintOf('a/b', '{ }').toString('hex')).not.toBe(fingerprint);
});
