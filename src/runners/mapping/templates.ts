import type { Quotes } from '../../json/mapped-json.js';
import { type Path, readPath } from '../../json/paths.js';
import { RunFailure } from '../../queue/runs/runner.js';
import { hint } from '../../tools/closest.js';

/** What a placeholder may name, besides `tag.<name>` and paths into the server's first answer. */
const names = ['request_id', 'run_id', 'attempt', 'key', 'priority', 'base', 'url'] as const;
type Name = (typeof names)[number];

/** The values for the placeholders of one run. */
export interface TemplateValues extends Readonly<Record<Name, string>> {
  /** Values of the request's tags, by name. */
  readonly tags: ReadonlyMap<string, string>;
  /** What the texts quote of an answer of the server; null: nothing. */
  readonly answer?: Quotes | null;
}

type Part = string | { name: Name } | { tag: string } | { path: Path };

const maxTextLength = 8_192;

/** A text with placeholders such as `{request_id}`. */
export class Template {
  private constructor(
    readonly text: string,
    private readonly parts: readonly Part[],
  ) {}

  /** `mayQuoteAnswer`: the server has answered already when the text is used, so it may contain `{$.path}`. */
  static read(value: unknown, { mayQuoteAnswer = false } = {}): Template {
    if (typeof value !== 'string' || value.length > maxTextLength)
      throw new Error(`expected a text of at most ${maxTextLength} characters`);
    const parts: Part[] = [];
    let from = 0;
    for (const found of value.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g)) {
      if (found.index > from) parts.push(value.slice(from, found.index));
      from = found.index + found[0].length;
      parts.push(found[1] === undefined ? brace(found[0]) : placeholder(found[1], mayQuoteAnswer));
    }
    if (from < value.length) parts.push(value.slice(from));
    return new Template(value, parts);
  }

  /** Returns whether it needs facts of the request that a run does not have with it. */
  get asksForRequest(): boolean {
    return this.parts.some(
      (part) => typeof part === 'object' && ('tag' in part || ('name' in part && isOfRequest(part.name))),
    );
  }

  /** Returns whether the text has the id that a run has at its server. */
  get hasRunId(): boolean {
    return this.parts.some((part) => typeof part === 'object' && 'name' in part && part.name === 'run_id');
  }

  /** The paths into an answer that the text quotes. */
  get quotes(): readonly Path[] {
    return this.parts.flatMap((part) => (typeof part === 'object' && 'path' in part ? part.path : []));
  }

  /** Returns the text for a run. `encode` is applied to each value, except to `{base}` and `{url}`. */
  render(values: TemplateValues, encode: (value: string) => string = (value) => value): string {
    return this.parts
      .map((part) => {
        if (typeof part === 'string') return part;
        if ('tag' in part) return encode(values.tags.get(part.tag) ?? '');
        if ('name' in part) return isAddress(part.name) ? values[part.name] : encode(values[part.name]);
        const found = values.answer?.[part.path.text];
        if (found === undefined) throw missing(part.path.text);
        return encode(String(found));
      })
      .join('');
  }
}

/** Throws unless an answer has all that the templates quote of it. */
export function assertQuoted(templates: readonly Template[], quotes: Quotes): void {
  for (const { text } of templates.flatMap((template) => template.quotes))
    if (quotes[text] === undefined) throw missing(text);
}

function missing(path: string): RunFailure {
  return new RunFailure(`The model's answer has no text or number at ${path}.`);
}

const isAddress = (name: Name): boolean => name === 'base' || name === 'url';

const isOfRequest = (name: Name): boolean => name === 'key' || name === 'priority';

function brace(text: string): string {
  if (text.length === 2) return text[0]!;
  throw new Error(`has a single "${text}"; write "${text}${text}" for the character itself`);
}

function placeholder(inside: string, mayQuoteAnswer: boolean): Part {
  if (inside.startsWith('$')) {
    if (!mayQuoteAnswer)
      throw new Error(
        `{${inside}} quotes the server's answer, which there is not yet; use it under "follow"`,
      );
    return { path: readPath(inside) };
  }
  const name = names.find((one) => one === inside);
  if (name !== undefined) return { name };
  const tag = /^tag\.([A-Za-z0-9._-]{1,64})$/.exec(inside)?.[1];
  if (tag !== undefined) return { tag };
  const known = [...names, 'tag.<name>'].map((one) => `{${one}}`).join(', ');
  throw new Error(`unknown placeholder {${inside}}${hint(inside, names)}; there are ${known}`);
}
