import {
  JSONPathEnvironment,
  type JSONPathNode,
  type JSONPathNodeList,
  type JSONPathQuery,
  type JSONValue,
} from 'json-p3';
import { maxModelDepth } from '../tools/storable-text.js';

/** A path as it is passed between threads. */
export interface PlainPath {
  readonly text: string;
  /** Only these values count; undefined: all do. */
  readonly values: readonly unknown[] | undefined;
}

/** A compiled JSONPath (RFC 9535), such as `$.choices[0].delta.content`. */
export interface Path extends PlainPath {
  readonly query: JSONPathQuery;
  /** The names and indexes of a path that consists of nothing else, which is found without the query. */
  readonly steps: readonly (string | number)[] | undefined;
}

const maxPathLength = 1_000;
/** Its own limit of 50 levels is less than an answer may have. */
const jsonpath = new JSONPathEnvironment({ maxRecursionDepth: maxModelDepth + 2 });

/** Reads a path, or `{ path, in }`: a path and the only values there that count. */
export function readPath(value: unknown): Path {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const { path, in: values, ...others } = value as Record<string, unknown>;
    if (!Array.isArray(values) || Object.keys(others).length > 0)
      throw new Error('expected a JSONPath, or a map such as { path: $.status, in: [failed] }');
    return { ...readPath(path), values };
  }
  if (typeof value !== 'string' || value.length > maxPathLength || !value.startsWith('$'))
    throw new Error('expected a JSONPath such as $.choices[0].delta.content');
  try {
    return compiledPath({ text: value, values: undefined });
  } catch (error) {
    throw new Error(`is not a JSONPath (RFC 9535): ${(error as Error).message}`, { cause: error });
  }
}

export function plainPath({ text, values }: PlainPath): PlainPath {
  return { text, values };
}

/** Compiles a path that another thread has read. */
export function compiledPath({ text, values }: PlainPath): Path {
  return { text, values, query: jsonpath.compile(text), steps: stepsOf(text) };
}

/** Reads a path, or a list of paths. */
export function readPaths(value: unknown): readonly Path[] {
  return Array.isArray(value) ? value.map(readPath) : [readPath(value)];
}

export function nodesAt({ query }: Path, json: unknown): JSONPathNodeList {
  return query.query(json as JSONValue);
}

const plainPathText = /^\$(?:\.[A-Za-z_]\w*|\[\d+\])*$/;

function stepsOf(text: string): Path['steps'] {
  if (!plainPathText.test(text)) return undefined;
  return [...text.matchAll(/\.(\w+)|\[(\d+)\]/g)].map(([, name, index]) => name ?? Number(index));
}

/** Returns the value at the end of steps. undefined: there is none. */
function valueAt(steps: readonly (string | number)[], json: unknown): unknown {
  let value = json;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) !== (typeof step === 'number') || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** Returns the values at a path that count. */
export function valuesAt(path: Path, json: unknown): unknown[] {
  const found = path.steps && valueAt(path.steps, json);
  const values: unknown[] =
    path.steps === undefined ? nodesAt(path, json).values() : found === undefined ? [] : [found];
  return path.values === undefined ? values : values.filter((value) => path.values!.includes(value));
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || value === false;

/** Returns the first value at any of the paths that is not null, false or an empty text. undefined: there is none. */
export function firstAt(paths: readonly Path[], json: unknown): unknown {
  for (const path of paths) for (const value of valuesAt(path, json)) if (!isEmpty(value)) return value;
  return undefined;
}

/** Returns the first such value, or the first one if all are empty. undefined: there is nothing at the paths. */
export function foundAt(paths: readonly Path[], json: unknown): unknown {
  return firstAt(paths, json) ?? paths.flatMap((path) => valuesAt(path, json))[0];
}

/** Returns the first value that is not empty, with its location. */
export function firstNodeAt(path: Path, json: unknown): JSONPathNode | undefined {
  return [...nodesAt(path, json)].find(({ value }) => !isEmpty(value));
}
