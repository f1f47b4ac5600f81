import type { ServerResponse } from 'node:http';

/** The URL of the page after this one, if there is one. `list`: the URL of the list. */
export function setNextLink(
  response: ServerResponse,
  list: string,
  { next_cursor: next }: { next_cursor: string | null },
): void {
  if (next !== null) response.setHeader('Link', `<${list}?cursor=${next}>; rel="next"`);
}
