import type { RequestFilter } from '../api/types';

const names = [
  'model_id',
  'status',
  'outcome',
  'key_id',
  'code',
  'node',
  'created_after',
  'created_before',
  'id_prefix',
] as const;

/** Reads the filter from the address. */
export function toFilter(parameters: URLSearchParams): RequestFilter {
  const filter: RequestFilter = {};
  for (const name of names) {
    const value = parameters.get(name);
    // The service validates the values.
    if (value !== null && value !== '') Object.assign(filter, { [name]: value });
  }
  const tags = parameters.getAll('tag').filter((tag) => tag !== '');
  if (tags.length > 0) filter.tag = tags;
  return filter;
}

/** Returns whether the text identifies one request: an id, or a handle. */
export const isWholeId = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) || /^rh_[\w-]{16,}$/.test(text);
