// Relies on a Nest internal: Nest opens a stream with one call of writeHead and its own fields.
import { type OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Overrides the header fields that another caller passes to writeHead. */
export function useHeadFields(response: ServerResponse, own: OutgoingHttpHeaders): void {
  // The override stays. Deleting the property would turn the response into a dictionary object, which costs 3 KiB while
  // it is open.
  response.writeHead = ((status: number, fields: object) =>
    ServerResponse.prototype.writeHead.call(response, status, {
      ...fields,
      ...own,
    })) as ServerResponse['writeHead'];
}
