import { parseRateLimits } from '../config/parsers.js';
import { parseDuration } from '../tools/duration.js';
import { clock } from '../database/clock.js';
import { decimal, oneOf, rule, text, time, whole } from '../tools/rules.js';
import { isKeyName, isModelPattern, priorities, scopes } from './caller.js';
import type { NewKey } from './keys.service.js';

/* The rules of the values of a key, for operators' calls and for the command line. */

export const nameRule = rule(text.schema, (value) => {
  const name = typeof value === 'string' ? value.trim() : '';
  if (!isKeyName(name)) throw new Error('expected 1 to 100 printable characters');
  return name;
});

export const scopeRule = oneOf(scopes);

export const modelRule = rule(text.schema, (value) => {
  const pattern = text.read(value);
  if (!isModelPattern(pattern))
    throw new Error('expected a model id such as acme/image/upscale, or a pattern such as acme/*');
  return pattern;
});

export const rateLimitRule = rule(text.schema, (value) => {
  const limits = text.read(value).trim().toLowerCase();
  parseRateLimits(limits);
  return limits;
});

export const priorityRule = oneOf(priorities);
export const maxWaitingRule = whole(1, 999_999_999);
export const maxRunningRule = whole(1, 999_999);
export const weightRule = decimal(0.01, 1_000);

export const expiryRule = rule<NonNullable<NewKey['expires']>>(text.schema, (value) => {
  const given = text.read(value);
  const isTime = /^\d{4}-/.test(given);
  const inMs = isTime ? time.read(given) - clock.now() : parseDuration(given);
  if (inMs < 1) throw new Error('expected a time in the future');
  return isTime ? { at: new Date(time.read(given)) } : { inMs };
});
