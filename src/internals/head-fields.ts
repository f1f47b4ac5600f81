// Relies on a Nest internal: Nest opens a stream with one call of writeHead and its own fields. Relies on a Node
// internal: the symbol under which a response keeps the fields of its head.
import { type OutgoingHttpHeaders, OutgoingMessage, ServerResponse } from 'node:http';

const fieldsOfHead = Object.getOwnPropertySymbols(new OutgoingMessage()).find(
  ({ description }) => description === 'kOutHeaders',
);

/**
 * Overrides the header fields that another caller passes to writeHead. Once the head is made, the response forgets its
 * fields, which take 1.5 KiB while a stream is open.
 */
export function useHeadFields(response: ServerResponse, own: OutgoingHttpHeaders): void {
  // The override stays. Deleting the property would turn the response into a dictionary object, which costs 3 KiB while
  // it is open.
  response.writeHead = ((status: number, fields: object) => {
    ServerResponse.prototype.writeHead.call(response, status, { ...fields, ...own });
    if (fieldsOfHead !== undefined) Object.assign(response, { [fieldsOfHead]: null });
    return response;
  }) as ServerResponse['writeHead'];
}
