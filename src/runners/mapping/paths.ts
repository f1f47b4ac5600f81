import { type JSONPathNodeList, type JSONPathQuery, jsonpath, type JSONValue } from 'json-p3';

/** A compiled JSONPath (RFC 9535), such as `$.choices[0].delta.content`. */
export interface Path {
  readonly text: string;
  readonly query: JSONPathQuery;
  /** Only these values count; undefined: all do. */
  readonly values: readonly unknown[] | undefined;
}

const maxPathLength = 1_000;

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
    return { text: value, query: jsonpath.compile(value), values: undefined };
  } catch (error) {
    throw new Error(`is not a JSONPath (RFC 9535): ${(error as Error).message}`, { cause: error });
  }
}

/** Reads a path, or a list of paths. */
export function readPaths(value: unknown): readonly Path[] {
  return Array.isArray(value) ? value.map(readPath) : [readPath(value)];
}

export function nodesAt({ query }: Path, json: unknown): JSONPathNodeList {
  return query.query(json as JSONValue);
}

/** Returns the values at a path that count. */
export function valuesAt(path: Path, json: unknown): unknown[] {
  const values: unknown[] = nodesAt(path, json).values();
  return path.values === undefined ? values : values.filter((value) => path.values!.includes(value));
}

/**
 * Returns the first value at any of the paths that says something: null, false and an empty text say nothing. undefined:
 * there is none.
 */
export function firstAt(paths: readonly Path[], json: unknown): unknown {
  for (const path of paths)
    for (const value of valuesAt(path, json))
      if (value !== null && value !== undefined && value !== '' && value !== false) return value;
  return undefined;
}
