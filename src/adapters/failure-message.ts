import type { RequestError } from '../queue/request-errors.js';
import { messageIn, withModelMessage } from '../tools/model-message.js';

/** Returns the error of a request as one sentence, with what the model said where it refused the call. */
export function failureMessage({ message, details }: RequestError): string {
  return withModelMessage(message, details === undefined ? undefined : messageIn(details));
}
