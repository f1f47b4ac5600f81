import createClient from 'openapi-fetch';
import { serviceUrl } from './base';
import type { components, paths } from './wire';

/** An error answer of the service. `status` 0: there was no answer. */
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

/** The codes of 5xx answers that refuse a call before anything is done. */
const refusals = ['model_paused', 'overloaded'];

/** True if the service may have done what it was asked for, without an answer that says so. */
export function isUnanswered(error: Error): boolean {
  if (!(error instanceof Problem)) return true;
  return error.status === 0 || (error.status >= 500 && !refusals.includes(error.code));
}

type ProblemBody = Partial<components['schemas']['Problem']>;

const offline = 'The service does not answer.';
/** A call without an answer ends after this time, for example while the streams of other tabs use all connections. */
const answerMs = 30_000;
/** The code of such a call. */
export const noAnswer = 'no_answer';

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

/** Sends this origin's cookies. Throws on an error answer. The answer may take any time, as a large payload does. */
export async function send(path: string, init?: RequestInit): Promise<Response> {
  const request = new Request(serviceUrl + path, init);
  return sendRequest(request, request.signal);
}

async function sendRequest(request: Request, signal: AbortSignal): Promise<Response> {
  const response = await fetch(request, { signal }).catch((error: unknown) => {
    if (request.signal.aborted) throw error;
    throw new Problem(0, signal.aborted ? noAnswer : 'offline', offline);
  });
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** For a call whose upload may take any time, as a large input does. */
export const sendWithoutLimit = (request: Request): Promise<Response> => sendRequest(request, request.signal);

async function sendInTime(request: Request): Promise<Response> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), answerMs);
  try {
    return await sendRequest(request, AbortSignal.any([request.signal, limit.signal]));
  } finally {
    clearTimeout(timer);
  }
}

type Values = Record<string, string | number | boolean | readonly string[] | null | undefined>;

/** Returns `?a=1&tag=x&tag=y`, without empty values. */
export function query(values: Values): string {
  const pairs = Object.entries(values).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined && one !== null && one !== '')
      .map((one): [string, string] => [name, String(one)]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

/** The slashes of model ids stay. */
const fillPath = (path: string, values: Record<string, unknown>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(String(values[name]));
    return name === 'model_id' ? value.replaceAll('%2F', '/') : value;
  });

/** Unsafe calls with a cookie must be JSON, with or without a body. */
export const api = createClient<paths, 'application/json'>({
  baseUrl: serviceUrl,
  fetch: sendInTime,
  headers: { 'content-type': 'application/json', accept: 'application/json' },
  pathSerializer: fillPath,
  querySerializer: (values) => query(values as Values),
});

/** Error answers were thrown before. */
export const answer = async <T>(call: Promise<{ data?: T }>): Promise<T> => (await call).data as T;
