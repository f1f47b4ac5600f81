import { serviceUrl } from './base';

/** An answer of the service that is no success. `status` 0: there was none. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly errors: readonly { path: string; message: string }[] = [],
  ) {
    super(message);
    this.name = 'Problem';
  }
}

interface ProblemBody {
  code?: string;
  title?: string;
  detail?: string;
  errors?: { path: string; message: string }[];
}

const offline = 'The service does not answer.';

async function problemOf(response: Response): Promise<Problem> {
  const body = (await response.json().catch(() => ({}))) as ProblemBody;
  const { code = '', title, detail, errors } = body;
  return new Problem(
    response.status,
    code,
    detail ?? title ?? `The service answered ${response.status}.`,
    errors,
  );
}

/** Cookies of this origin go along; what is no success is thrown. */
export async function send(path: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(serviceUrl + path, init).catch((error: unknown) => {
    if (init?.signal?.aborted) throw error;
    throw new Problem(0, 'offline', offline);
  });
  if (!response.ok) throw await problemOf(response);
  return response;
}

type Values = Record<string, string | number | boolean | readonly string[] | null | undefined>;

/** `?a=1&tag=x&tag=y`; what is empty is left out. */
export function query(values: Values): string {
  const pairs = Object.entries(values).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined && one !== null && one !== '')
      .map((one): [string, string] => [name, String(one)]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await send(path, { signal: signal ?? null, headers: { accept: 'application/json' } });
  return (await response.json()) as T;
}

/** By JSON, as unsafe calls with a cookie must be. */
export async function change<T>(
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  path: string,
  body: unknown = {},
): Promise<T> {
  const response = await send(path, {
    method,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
