import { validateHeaderName, validateHeaderValue } from 'node:http';
import { isMap, type Node } from 'yaml';
import { parseUrl } from '../config/parsers.js';
import type { RunnerSpec } from './model.js';
import { OptionMap } from './option-map.js';
import { choice, text } from './option-parsers.js';
import { type Environment, substitute } from './substitute.js';
import type { YamlSource } from './yaml-source.js';

const optionsOfKind = { http: ['kind', 'url', 'headers'], demo: ['kind', 'demo'] } as const;
const demos = ['echo', 'fractal', 'flaky'] as const;
const maxTextLength = 8_192;

/** What the runner itself says about its body, its connection and its run. */
const ownHeaders = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-attempt',
  'x-request-id',
]);

export function readRunnerSpec(
  source: YamlSource,
  node: Node,
  environment: Environment,
): RunnerSpec | undefined {
  if (!isMap(node)) {
    source.fault(node, 'runner: expected a map such as { kind: http, url: … }');
    return undefined;
  }
  const kind = new OptionMap(source, node).require('kind', choice(['http', 'demo']), undefined);
  if (kind === undefined) return undefined;
  const options = new OptionMap(source, node, optionsOfKind[kind]);
  if (kind === 'demo') return { kind, demo: options.require('demo', choice(demos), 'echo') };
  const url = options.require('url', (value) => readUrl(value, environment), '');
  return { kind, url, headers: readHeaders(source, options.node('headers'), environment) };
}

function readUrl(value: unknown, environment: Environment): string {
  return parseUrl(substitute(text(maxTextLength)(value), environment), ['http:', 'https:']);
}

function readHeaders(
  source: YamlSource,
  node: Node | null,
  environment: Environment,
): Record<string, string> {
  if (node === null) return {};
  if (!isMap(node)) {
    source.fault(node, 'headers: expected a map of names and values');
    return {};
  }
  const headers = new OptionMap(source, node);
  const read = new Map<string, string>();
  for (const name of headers.names) {
    const lowerName = name.toLowerCase();
    if (read.has(lowerName)) headers.fault(name, 'is there twice');
    read.set(
      lowerName,
      headers.read(name, (value) => readHeader(lowerName, value, environment), ''),
    );
  }
  return Object.fromEntries(read);
}

function readHeader(name: string, value: unknown, environment: Environment): string {
  if (ownHeaders.has(name)) throw new Error('is set by the service itself');
  if (!passes(() => validateHeaderName(name))) throw new Error('is not the name of a header');
  const header = substitute(
    text(maxTextLength)(typeof value === 'number' ? String(value) : value),
    environment,
  );
  // Node's own message would do, but this one is sure never to hold the value.
  if (!passes(() => validateHeaderValue(name, header)))
    throw new Error('holds a character no header may hold');
  return header;
}

function passes(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
