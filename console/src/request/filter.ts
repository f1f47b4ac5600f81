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

/** As the address has it. */
export function toFilter(parameters: URLSearchParams): RequestFilter {
  const filter: RequestFilter = {};
  for (const name of names) {
    const value = parameters.get(name);
    // What it may be, the service says.
    if (value !== null && value !== '') Object.assign(filter, { [name]: value });
  }
  const tags = parameters.getAll('tag').filter((tag) => tag !== '');
  if (tags.length > 0) filter.tag = tags;
  return filter;
}

/** What names one request: its id, or a handle in its place. */
export const isWholeId = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) || /^rh_[\w-]{16,}$/.test(text);
