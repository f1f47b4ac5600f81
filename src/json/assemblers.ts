/** Assembles the answer that a server would have sent without streaming. */
export interface Assembler {
  add(chunk: JsonObject): void;
  /** True: all parts that have begun have ended, as far as the chunks show. */
  readonly isComplete: boolean;
  readonly output: unknown;
  /** One chunk that is equivalent to all that were added. */
  readonly sum: JsonObject;
  /** The length of the JSON that it keeps, or less. It leaves out a last chunk that is kept whole. */
  readonly length: number;
  /** A chunk that shows only which parts have begun, and which have ended. */
  readonly ends: JsonObject;
}

export type JsonObject = Record<string, unknown>;

const kinds = {
  chat: () => new ChoiceAssembler('delta', 'message', 'chat.completion'),
  completion: () => new ChoiceAssembler('text', 'text', 'text_completion'),
  joined: () => new JoinedAssembler(),
  last: () => new LastAssembler(),
  response: () => new ResponseAssembler(),
  transcript: () => new TranscriptAssembler(),
} satisfies Record<string, () => Assembler>;

export type AssemblerKind = keyof typeof kinds;

export const assemblerKinds = Object.keys(kinds) as AssemblerKind[];

export function assemblerOf(kind: AssemblerKind): Assembler {
  return kinds[kind]();
}

/** Members that each chunk repeats whole, if it has them. All other texts are continued. */
const repeated = new Set(['id', 'type', 'role', 'name', 'object', 'model', 'created_at', 'done_reason']);

/** Continues values by parts of them, and counts the length of what they become. */
class Parts {
  length = 0;
  /** The places of the entries of a list by their `index`. */
  private readonly places = new WeakMap<unknown[], Map<number, number>>();

  /**
   * Returns the continued value: texts are joined, lists are merged by the `index` of their entries or joined, members
   * of objects are continued. It is what OpenAI's own libraries do with their chunks.
   */
  continued(before: unknown, part: unknown, name: string): unknown {
    if (before === undefined || before === null) return this.replaced(before, part);
    if (part === undefined || part === null) return before;
    if (typeof before === 'string' && typeof part === 'string') {
      if (repeated.has(name)) return this.replaced(before, part || before);
      this.length += part.length;
      return before + part;
    }
    if (Array.isArray(before) && Array.isArray(part)) return this.continuedList(before, part);
    if (isObject(before) && isObject(part)) {
      for (const [member, value] of Object.entries(part))
        this.set(before, member, this.continued(own(before, member), value, member));
      return before;
    }
    return this.replaced(before, part);
  }

  replaced(before: unknown, value: unknown): unknown {
    if (before !== value) this.length += lengthOf(value) - lengthOf(before);
    return value;
  }

  /** Sets a member to a value that is counted. */
  set(object: JsonObject, name: string, value: unknown): void {
    if (!Object.hasOwn(object, name)) this.length += name.length;
    define(object, name, value);
  }

  private continuedList(before: unknown[], part: readonly unknown[]): unknown[] {
    const places = this.placesIn(before);
    for (const entry of part) {
      const index = indexOf(entry);
      const at = index === undefined ? undefined : places.get(index);
      if (at !== undefined) {
        before[at] = this.continued(before[at], entry, '');
        continue;
      }
      if (index !== undefined) places.set(index, before.length);
      before.push(this.replaced(undefined, entry));
    }
    return before;
  }

  private placesIn(list: unknown[]): Map<number, number> {
    const known = this.places.get(list);
    if (known !== undefined) return known;
    const places = new Map<number, number>();
    for (const [at, entry] of list.entries()) {
      const index = indexOf(entry);
      if (index !== undefined && !places.has(index)) places.set(index, at);
    }
    this.places.set(list, places);
    return places;
  }
}

function indexOf(entry: unknown): number | undefined {
  return isObject(entry) && typeof entry.index === 'number' ? entry.index : undefined;
}

/** Returns a length that the JSON of a value has at least. */
function lengthOf(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return value.length;
  let length = 1;
  if (Array.isArray(value)) for (const entry of value) length += lengthOf(entry);
  else if (isObject(value))
    for (const [name, member] of Object.entries(value)) length += name.length + lengthOf(member);
  return length;
}

/** Chunks of OpenAI's API: their choices are continued by `index`. */
class ChoiceAssembler implements Assembler {
  private readonly head: JsonObject = {};
  private usage: unknown;
  private readonly choices = new Map<number, JsonObject>();
  private readonly parts = new Parts();
  /** The number of choices without a reason for their end. */
  private open = 0;

  /** `part`: the member of a chunk's choice that continues the choice's member `whole`. */
  constructor(
    private readonly part: string,
    private readonly whole: string,
    private readonly object: string,
  ) {}

  add({ choices, usage, ...head }: JsonObject): void {
    for (const [name, value] of Object.entries(head))
      if (value !== this.head[name] && (value !== null || !Object.hasOwn(this.head, name)))
        this.parts.set(this.head, name, this.parts.replaced(own(this.head, name), value));
    if (usage !== undefined && usage !== null) this.usage = this.parts.replaced(this.usage, usage);
    if (!Array.isArray(choices)) return;
    for (const chunk of choices.filter(isObject)) this.addChoice(chunk);
  }

  private addChoice(chunk: JsonObject): void {
    const index = typeof chunk.index === 'number' ? chunk.index : 0;
    const known = this.choices.get(index);
    const choice = known ?? { index };
    if (known === undefined) {
      this.choices.set(index, choice);
      this.parts.replaced(undefined, choice);
      this.open++;
    }
    if (hasEnded(choice)) this.open++;
    for (const [name, value] of Object.entries(chunk)) {
      if (name === 'index') continue;
      const member = name === this.part ? this.whole : name;
      const before = own(choice, member);
      // A list is continued, such as vLLM's `token_ids`. All else comes whole, such as Azure's `content_filter_results`.
      const isPart =
        name === this.part || name === 'logprobs' || (Array.isArray(before) && Array.isArray(value));
      const after = isPart
        ? this.parts.continued(before, value, name)
        : this.parts.replaced(before, value ?? before ?? null);
      this.parts.set(choice, member, after);
    }
    if (hasEnded(choice)) this.open--;
  }

  get isComplete(): boolean {
    return this.choices.size > 0 && this.open === 0;
  }

  get length(): number {
    return this.parts.length;
  }

  get sum(): JsonObject {
    const choices = [...this.choices.values()].map((choice) => {
      const { [this.whole]: whole, ...others } = choice;
      return whole === undefined ? others : { ...others, [this.part]: whole };
    });
    return { ...this.head, choices, ...(this.usage !== undefined && { usage: this.usage }) };
  }

  get ends(): JsonObject {
    const choices = [...this.choices.values()];
    return { choices: choices.map(({ index, finish_reason }) => ({ index, finish_reason })) };
  }

  get output(): unknown {
    const choices = [...this.choices.values()].sort((a, b) => Number(a.index) - Number(b.index));
    return {
      ...this.head,
      object: this.object,
      choices: choices.map((choice) => this.wholeChoice(choice)),
      ...(this.usage !== undefined && { usage: this.usage }),
    };
  }

  private wholeChoice(choice: JsonObject): JsonObject {
    if (this.whole !== 'message') return choice;
    const message = isObject(choice[this.whole]) ? (choice[this.whole] as JsonObject) : {};
    const { role = 'assistant', content = null, tool_calls: calls, ...others } = message;
    // The index of a call orders the chunks and is no part of a message.
    const tools = Array.isArray(calls) ? calls.map(withoutIndex) : undefined;
    // In a message with calls, an empty text means that there is no text.
    const text = tools !== undefined && tools.length > 0 && content === '' ? null : content;
    return {
      ...choice,
      [this.whole]: { role, content: text, ...others, ...(tools && { tool_calls: tools }) },
    };
  }
}

const hasEnded = ({ finish_reason: reason }: JsonObject): boolean => typeof reason === 'string';

/** The last chunk has the reason for the end. Its texts and lists are the last parts of those of all chunks. */
class JoinedAssembler implements Assembler {
  private last: JsonObject = {};
  private readonly joined: JsonObject = {};
  private readonly parts = new Parts();
  readonly isComplete = true;

  add(chunk: JsonObject): void {
    this.last = chunk;
    for (const name of ['content', 'response', 'thinking', 'message', 'tokens'])
      if (Object.hasOwn(chunk, name))
        this.joined[name] = this.parts.continued(this.joined[name], chunk[name], name);
  }

  get length(): number {
    return this.parts.length;
  }

  get output(): unknown {
    return this.sum;
  }

  get sum(): JsonObject {
    return { ...this.last, ...this.joined };
  }

  readonly ends = {};
}

/** The last chunk has the whole output, together with its own token or the type of its event. */
class LastAssembler implements Assembler {
  private last: JsonObject = {};
  readonly length = 0;
  readonly isComplete = true;

  add(chunk: JsonObject): void {
    this.last = chunk;
  }

  get sum(): JsonObject {
    return this.last;
  }

  readonly ends = {};

  get output(): unknown {
    const { index: _index, token: _token, top_tokens: _top, type: _type, ...output } = this.last;
    return Object.fromEntries(Object.entries(output).filter(([, value]) => value !== null));
  }
}

/** The event that ends a response of OpenAI's API has the whole response. */
class ResponseAssembler implements Assembler {
  private last: JsonObject = {};
  readonly length = 0;

  add(chunk: JsonObject): void {
    this.last = chunk;
  }

  get isComplete(): boolean {
    return this.last.type === 'response.completed' || this.last.type === 'response.incomplete';
  }

  get sum(): JsonObject {
    return this.last;
  }

  get ends(): JsonObject {
    return { type: this.last.type };
  }

  get output(): unknown {
    return this.last.response;
  }
}

/**
 * Events of a transcription, in the form of OpenAI's API, whose last has the whole text, or of vLLM and SGLang, which
 * send choices as in a chat. Older versions of speaches send only the text of each segment.
 */
class TranscriptAssembler implements Assembler {
  private last: JsonObject = {};
  private text = '';
  private reason: unknown;
  private usage: unknown;

  add(chunk: JsonObject): void {
    const { type, choices, text, usage } = chunk;
    if (usage !== undefined && usage !== null) this.usage = usage;
    if (Array.isArray(choices)) for (const choice of choices.filter(isObject)) this.addChoice(choice);
    else if (type === undefined && typeof text === 'string') this.text = inWords(this.text, text);
    this.last = chunk;
  }

  private addChoice({ delta, finish_reason: reason }: JsonObject): void {
    const content = isObject(delta) ? delta.content : undefined;
    if (typeof content === 'string') this.text += content;
    this.reason = reason ?? null;
  }

  get length(): number {
    return this.text.length;
  }

  get isComplete(): boolean {
    const { type, text } = this.last;
    if (type !== undefined) return type === 'transcript.text.done';
    return this.hasChoices ? typeof this.reason === 'string' : typeof text === 'string';
  }

  private get hasChoices(): boolean {
    return Array.isArray(this.last.choices);
  }

  get sum(): JsonObject {
    if (this.last.type !== undefined) return this.last;
    const { text, reason, usage } = this;
    const delta = { content: text };
    return { ...(this.hasChoices ? { choices: [{ delta, finish_reason: reason }] } : { text }), usage };
  }

  get ends(): JsonObject {
    const { type } = this.last;
    if (type !== undefined) return { type };
    return this.hasChoices ? { choices: [{ finish_reason: this.reason }] } : { text: '' };
  }

  get output(): unknown {
    if (this.last.type === undefined) {
      const { text, usage } = this;
      return { text, ...(usage !== undefined && { usage }) };
    }
    const { type: _type, ...output } = this.last;
    return Object.fromEntries(Object.entries(output).filter(([, value]) => value !== null));
  }
}

/** Joins the texts of two segments, which may have lost the space between them. */
function inWords(before: string, text: string): string {
  const isApart = before === '' || text === '' || /\s$/.test(before) || /^\s/.test(text);
  return isApart ? before + text : `${before} ${text}`;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets a member also if its name is `__proto__`. */
function define(object: JsonObject, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

function withoutIndex(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { index: _index, ...others } = value;
  return others;
}
