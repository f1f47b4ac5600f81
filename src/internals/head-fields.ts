// Relies on an inside of Nest: it opens a stream by one call of writeHead, with fields of its own.
import { type OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Puts fields in the place of those that whoever writes the head has for them. */
export function useHeadFields(response: ServerResponse, own: OutgoingHttpHeaders): void {
  // Stays in place: to delete a property would turn the response into a dictionary, 3 KiB for as long as it is open.
  response.writeHead = ((status: number, fields: object) =>
    ServerResponse.prototype.writeHead.call(response, status, {
      ...fields,
      ...own,
    })) as ServerResponse['writeHead'];
}
