import { messageIn, withModelMessage } from '../tools/model-message.js';

/** The messages of the runners and the worker API for failures that the model did not describe. */
const plain = /^(?:The model answered \d+|The worker failed)\.$/;

/**
 * Returns the error of a request as one sentence, for clients that read nothing else of it. If the model refused the
 * input and gave a reason, the sentence quotes the reason.
 */
export function failureMessage({ message, details }: { message: string; details?: unknown }): string {
  return plain.test(message) && details !== undefined
    ? withModelMessage(message, messageIn(details))
    : message;
}
