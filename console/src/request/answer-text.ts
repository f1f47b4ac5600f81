/** A part of a stream or an output, of a form that is not known yet. */
type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);

/**
 * Returns the text that a delta adds to the output. undefined: the delta is not a text. Chunks of model servers are
 * known by their form: of OpenAI's API, Ollama, llama.cpp and TGI.
 */
export function deltaText(delta: unknown): string | undefined {
  if (isText(delta)) return delta;
  if (!isObject(delta)) return undefined;
  if (
    /^(chat\.completion\.chunk|text_completion)$/.test(String(delta.object)) &&
    Array.isArray(delta.choices)
  )
    return delta.choices.map(choiceDelta).find((text) => text !== undefined) ?? '';
  if (delta.type === 'transcript.text.delta' && isText(delta.delta)) return delta.delta;
  if (typeof delta.done === 'boolean') return textAt(member(delta.message, 'content'), delta.response);
  if (typeof delta.stop === 'boolean') return textAt(delta.content);
  if (isObject(delta.token)) return delta.token.special === true ? '' : textAt(delta.token.text);
  return undefined;
}

/** Other choices than the first are shown in the output only. */
function choiceDelta(choice: unknown): string | undefined {
  const index = member(choice, 'index') ?? 0;
  return index === 0
    ? (textAt(member(member(choice, 'delta'), 'content'), member(choice, 'text')) ?? '')
    : undefined;
}

/** Returns the texts to read in an output, such as the answer of each choice of a chat. */
export function answerTexts(output: unknown): string[] {
  return textsIn(output).filter((text) => text.trim() !== '');
}

function textsIn(output: unknown): string[] {
  if (isText(output)) return [output];
  if (Array.isArray(output)) return joined(output);
  if (!isObject(output)) return [];
  if (Array.isArray(output.choices))
    return output.choices.flatMap((choice: unknown) =>
      listed(textAt(member(member(choice, 'message'), 'content'), member(choice, 'text'))),
    );
  const { message, response, content, generated_text, text, output: inner } = output;
  const found = textAt(member(message, 'content'), response, content, generated_text, text);
  return found === undefined && inner !== undefined ? textsIn(inner) : listed(found);
}

/** A model that streams its words may return the list of them. Words that are no entries of a list have spaces. */
function joined(parts: readonly unknown[]): string[] {
  return parts.every(isText) && parts.some((part) => /^\s|\s$/.test(part)) ? [parts.join('')] : [];
}

const textAt = (...values: readonly unknown[]): string | undefined => values.find(isText);
const listed = (text: string | undefined): string[] => (text === undefined ? [] : [text]);
