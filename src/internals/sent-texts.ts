// Relies on an Express internal: the prototype of an application's responses, which its types leave out.
import type { Application, Response } from 'express';

/** Calls `note` before each text that Express sends. */
export function onSentText(app: Application, note: (response: Response, text: string) => void): void {
  const { response } = app as unknown as { response: Response };
  const { send } = response;
  response.send = function sendNoted(this: Response, body: unknown): Response {
    if (typeof body === 'string') note(this, body);
    return send.call(this, body);
  };
}
