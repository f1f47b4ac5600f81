import { messageIn } from '../tools/model-message.js';

/** What the runners and the worker API say of a failure for which they have no words of the model. */
const plain = /^(The model answered \d+|The worker failed)\.$/;

/**
 * Returns the message of an error for clients that read nothing else of it: the model's own words, if it refused the
 * input and said why.
 */
export function errorMessageOf({ message, details }: { message: string; details?: unknown }): string {
  return (plain.test(message) ? messageIn(details) : undefined) ?? message;
}
