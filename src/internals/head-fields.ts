// Relies on a Nest internal: Nest opens a stream with one call of writeHead and its own fields. Relies on a Node
// internal: the symbol under which a response keeps the fields of its head.
import { type OutgoingHttpHeaders, OutgoingMessage, ServerResponse } from 'node:http';

const fieldsOfHead = Object.getOwnPropertySymbols(new OutgoingMessage()).find(
  ({ description }) => description === 'kOutHeaders',
);

/** The fields that are left of the head of a stream of events. */
const left: object = Object.assign(Object.create(null) as object, {
  'content-type': ['Content-Type', 'text/event-stream'],
});

/**
 * Overrides the header fields that another caller passes to writeHead. Once the head of a stream is made, the response
 * forgets all fields but its type, because they take 1.5 KiB while the stream is open.
 */
export function useHeadFields(response: ServerResponse, own: OutgoingHttpHeaders): void {
  // The override stays. Deleting the property would turn the response into a dictionary object, which costs 3 KiB while
  // it is open.
  response.writeHead = ((status: number, fields: object) => {
    ServerResponse.prototype.writeHead.call(response, status, { ...fields, ...own });
    const isStream = String(response.getHeader('content-type')).startsWith('text/event-stream');
    if (isStream && fieldsOfHead !== undefined) Object.assign(response, { [fieldsOfHead]: left });
    return response;
  }) as ServerResponse['writeHead'];
}
