// Relies on an inside of Nest: it opens a stream by one call of writeHead, with its own Cache-Control among the fields.
import { ServerResponse } from 'node:http';

/** Puts another Cache-Control in the place of the one that whoever writes the head has for it. */
export function useCacheControl(response: ServerResponse, value: string): void {
  // Stays in place: to delete a property would turn the response into a dictionary, 3 KiB for as long as it is open.
  response.writeHead = ((status: number, fields: object) =>
    ServerResponse.prototype.writeHead.call(response, status, {
      ...fields,
      'Cache-Control': value,
    })) as ServerResponse['writeHead'];
}
