import { assertMayUse, type Caller, isModelPattern } from './caller.js';

const callerFor = (models: string[] | null): Caller => ({
  keyId: 'a',
  name: 'a',
  scopes: ['submit'],
  models,
  rateLimitSubmit: null,
  rateLimitOther: null,
  rateLimitBatch: null,
  maxPriority: 'high',
  maxWaiting: null,
  maxRunning: null,
  weight: 1,
});

test.each([
  [null, 'anything/at/all'],
  [['acme/upscale'], 'acme/upscale'],
  [['other', 'acme/*'], 'acme/upscale'],
  [['acme/*'], 'acme/image/upscale'],
])('a key for %j may use %s', (models, modelId) =>
  expect(() => assertMayUse(callerFor(models), modelId)).not.toThrow(),
);

test.each([
  [[], 'acme/upscale'],
  [['acme/upscale'], 'acme/upscale2'],
  [['acme/upscale'], 'acme'],
  [['acme/*'], 'acme'],
  [['acme/*'], 'acmes/upscale'],
  [['acme/*'], 'ACME/upscale'],
])('a key for %j may not use %s', (models, modelId) =>
  expect(() => assertMayUse(callerFor(models), modelId)).toThrow(/may not use the model/),
);

test.each(['a\0b', '\ud800', 'a'.repeat(1_000_000)])(
  'a refusal does not quote a text that names no model',
  (text) => expect(() => assertMayUse(callerFor([]), text)).toThrow('This API key may not use this model.'),
);

test.each(['acme', 'acme/image/upscale', 'acme/*', 'a.b-c_d/*', '1/2/3/4/5/6/7/8'])(
  '%s is a pattern',
  (text) => expect(isModelPattern(text)).toBe(true),
);

test.each(['', '*', '/*', 'acme*', 'acme/*/x', 'acme/', '/acme', '-acme', 'a b', '1/2/3/4/5/6/7/8/9'])(
  '"%s" is no pattern',
  (text) => expect(isModelPattern(text)).toBe(false),
);
