import type { ServerResponse } from 'node:http';

/** Sets the link to the next page, if there is one. `list`: the URL of the list. */
export function setNextLink(
  response: ServerResponse,
  list: string,
  { next_cursor: next }: { next_cursor: string | null },
): void {
  if (next !== null) response.setHeader('Link', `<${list}?cursor=${next}>; rel="next"`);
}
