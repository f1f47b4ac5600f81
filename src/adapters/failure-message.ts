import { messageIn, withModelMessage } from '../tools/model-message.js';

/** What the runners and the worker API say of a failure for which they have no words of the model. */
const plain = /^(?:The model answered \d+|The worker failed)\.$/;

/**
 * Returns the error of a request as one sentence, for clients that read nothing else of it: with the model's own words,
 * if it refused the input and said why.
 */
export function failureMessage({ message, details }: { message: string; details?: unknown }): string {
  return plain.test(message) && details !== undefined
    ? withModelMessage(message, messageIn(details))
    : message;
}
