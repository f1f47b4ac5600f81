import { RE2JS } from 're2js';

/** Matches a text in a time that grows with its length. A pattern without such a bound runs where it can be stopped. */
export interface Pattern {
  test(text: string): boolean;
  /** Nanoseconds per character that matching takes at worst; Infinity: there is no bound. */
  readonly cost: number;
  /** Why there is no bound; undefined: there is one. */
  readonly unbounded: string | undefined;
}

/** Cost per instruction and character, if re2js has to follow all ways through a pattern at once. */
const instructionCost = 50;
/** Cost per way that a backtracking engine may have to try at one character. */
const stepCost = 2;
/** A pattern whose ways multiply to more than this is not given to a backtracking engine. */
const maxWays = 64;
/** A repetition that may end at more places than this counts as one without an end. */
const maxSpread = 8;
/** A repetition of more than this many is too long to be tried at each place of a text. */
const maxLength = 64;

/**
 * Compiles a pattern of a schema. It means the same as `new RegExp(source, 'u')`, and throws as that does. The native
 * engine gets what it matches in linear time, because it is the fastest; the rest goes to re2js. Neither matches
 * lookaround or backreferences in linear time, so their cost is Infinity.
 */
export function compilePattern(source: string): Pattern {
  const native = new RegExp(source, 'u');
  let reader: Reader;
  try {
    reader = new Reader(source);
    reader.read();
  } catch (error) {
    if (!(error instanceof Unbounded)) throw error;
    return unbounded(native, error.message);
  }
  const { ways } = reader;
  if (ways <= maxWays)
    return { test: (text) => native.test(text), cost: ways * stepCost, unbounded: undefined };
  if (reader.namesProperty)
    return unbounded(native, 'it names a Unicode property and may match in many ways');
  try {
    const compiled = RE2JS.compile(reader.translated);
    const cost = compiled.programSize() * instructionCost;
    return { test: (text) => compiled.test(text), cost, unbounded: undefined };
  } catch {
    return unbounded(native, 'it repeats more than 1,000 times, or is too long');
  }
}

const unbounded = (native: RegExp, why: string): Pattern => ({
  test: (text) => native.test(text),
  cost: Infinity,
  unbounded: why,
});

class Unbounded extends Error {}

/** Code points, as pairs of the first and the last. */
type Ranges = [number, number][];

const maxCodePoint = 0x10ffff;
const digits: Ranges = [[0x30, 0x39]];
const wordCharacters: Ranges = [...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]];
/** White space and line ends as ECMAScript has them; RE2 knows only the first five. */
const spaces: Ranges = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const lineEnds: Ranges = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const classes: Readonly<Record<string, Ranges>> = { d: digits, w: wordCharacters, s: spaces };
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, '0': 0 };

/** Reads a valid pattern and writes it in RE2's syntax, without anything that the two engines read differently. */
class Reader {
  translated = '';
  /** A bound on the ways that a backtracking engine may try at a character; Infinity: they grow with the text. */
  ways = 1;
  /** The pattern names a Unicode property, of which re2js may have older tables. `translated` then has no meaning. */
  namesProperty = false;
  private at = 0;
  /** Alternatives of the open groups, and of the pattern as a whole. */
  private readonly alternatives = [1];
  private repetitions = 0;

  constructor(private readonly source: string) {}

  read(): void {
    const { source } = this;
    while (this.at < source.length) {
      const character = source[this.at]!;
      switch (character) {
        case '^':
          this.assertion('\\A');
          break;
        case '$':
          this.assertion('\\z');
          break;
        case '(':
          this.open();
          break;
        case ')':
          this.at++;
          this.ways *= this.alternatives.pop()!;
          this.translated += ')';
          this.repeat(true);
          break;
        case '|':
          this.at++;
          this.translated += '|';
          this.alternatives[this.alternatives.length - 1]!++;
          break;
        case '.':
          this.at++;
          this.atom(complement(lineEnds));
          break;
        case '[':
          this.atom(this.class());
          break;
        case '\\':
          this.escape();
          break;
        default:
          this.atom(single(this.codePoint()));
      }
    }
    // Without an anchor, the same is tried at each place of the text.
    const [alternatives] = this.alternatives as [number];
    this.ways *= alternatives;
    const isAnchored = source.startsWith('^') && alternatives === 1;
    if (this.repetitions > 1 || (this.repetitions === 1 && !isAnchored)) this.ways = Infinity;
  }

  private assertion(translated: string): void {
    this.at++;
    this.translated += translated;
  }

  private atom(ranges: Ranges): void {
    this.translated += written(ranges);
    this.repeat(false);
  }

  private open(): void {
    const { source, at } = this;
    const [group] = /^\((?:\?:|\?<(?![=!])[^>]*>)?/.exec(source.slice(at, at + 300))!;
    if (group === '(' && source[at + 1] === '?') {
      const kind = source.slice(at, at + 4);
      throw new Unbounded(/^\(\?<?[=!]/.test(kind) ? 'it looks ahead or behind' : `it uses "${kind}"`);
    }
    this.at += group.length;
    this.alternatives.push(1);
    this.translated += '(?:';
  }

  /** Reads the quantifier after an atom. A lazy one matches the same texts. */
  private repeat(isGroup: boolean): void {
    const quantifier = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.source.slice(this.at, this.at + 50));
    if (quantifier === null) return;
    this.at += quantifier[0].length;
    const [text, min = '', comma = '', max = ''] = quantifier;
    this.translated += text.replace(/(.)\?$/, '$1');
    const spread = comma === '' || max === '' ? Infinity : Number(max) - Number(min);
    if (text[0] === '?') this.ways *= 2;
    else if (text[0] !== '{' || (comma !== '' && spread > maxSpread)) this.repetitions++;
    else if (comma !== '') this.ways *= spread + 1;
    else if (Number(min) > maxLength) this.repetitions++;
    // A repeated group may itself be matched in several ways.
    if (isGroup && text[0] !== '?') this.ways = Infinity;
  }

  private escape(): void {
    const next = this.source[this.at + 1]!;
    if (next === 'b' || next === 'B') {
      this.at += 2;
      this.translated += `\\${next}`;
    } else if (/[1-9k]/.test(next)) throw new Unbounded('it refers back to a group');
    else this.atom(this.escaped());
  }

  /** Returns the meaning of an escape, in a class and elsewhere. */
  private escaped(): Ranges {
    const { source, at } = this;
    const next = source[at + 1]!;
    const ranges = classes[next.toLowerCase()];
    if (ranges !== undefined) {
      this.at += 2;
      return next === next.toLowerCase() ? ranges : complement(ranges);
    }
    if (next === 'p' || next === 'P') {
      const [property] = /^\\[pP]\{[^}]*\}/.exec(source.slice(at, at + 200)) ?? [];
      if (property === undefined) throw new Unbounded('it names a property of more than 200 characters');
      this.at += property.length;
      this.namesProperty = true;
      return [];
    }
    return single(this.codePointEscape());
  }

  private codePointEscape(): number {
    const text = this.source.slice(this.at, this.at + 12);
    const hex = /^\\(?:x([\da-f]{2})|u\{0*([\da-f]{1,6})\}|u([\da-f]{4}))/i.exec(text);
    if (hex !== null) {
      this.at += hex[0].length;
      const unit = Number.parseInt((hex[1] ?? hex[2] ?? hex[3])!, 16);
      const low = unit >= 0xd800 && unit <= 0xdbff && hex[3] !== undefined ? this.lowSurrogate() : undefined;
      if (low !== undefined) return (unit - 0xd800) * 0x400 + low - 0xdc00 + 0x10000;
      if (unit >= 0xd800 && unit <= 0xdfff)
        throw new Unbounded('it has an escape for half of a surrogate pair');
      return unit;
    }
    const control = /^\\c([a-z])/i.exec(text);
    if (control !== null) {
      this.at += 3;
      return control[1]!.charCodeAt(0) % 32;
    }
    if (text[1] === 'u') throw new Unbounded('it has a long \\u escape of a character');
    this.at++;
    const known = controls[text[1]!];
    if (known === undefined) return this.codePoint();
    this.at++;
    return known;
  }

  private lowSurrogate(): number | undefined {
    const low = /^\\u(d[c-f][\da-f]{2})/i.exec(this.source.slice(this.at, this.at + 6));
    if (low === null) return undefined;
    this.at += 6;
    return Number.parseInt(low[1]!, 16);
  }

  private codePoint(): number {
    const point = this.source.codePointAt(this.at)!;
    if (point >= 0xd800 && point <= 0xdfff) throw new Unbounded('it contains half of a surrogate pair');
    this.at += point > 0xffff ? 2 : 1;
    return point;
  }

  private class(): Ranges {
    this.at++;
    const isNegated = this.source[this.at] === '^';
    if (isNegated) this.at++;
    const ranges: Ranges = [];
    while (this.source[this.at] !== ']') {
      const from = this.classAtom();
      const isRange = this.source[this.at] === '-' && this.source[this.at + 1] !== ']';
      if (!isRange) {
        ranges.push(...from);
        continue;
      }
      this.at++;
      ranges.push([from[0]![0], this.classAtom()[0]![1]]);
    }
    this.at++;
    return isNegated ? complement(ranges) : ranges;
  }

  private classAtom(): Ranges {
    if (this.source[this.at] !== '\\') return single(this.codePoint());
    if (this.source[this.at + 1] !== 'b') return this.escaped();
    this.at += 2;
    return single(8);
  }
}

const single = (point: number): Ranges => [[point, point]];

function complement(ranges: Ranges): Ranges {
  const sorted = [...ranges].sort(([one], [other]) => one - other);
  const rest: Ranges = [];
  let next = 0;
  for (const [first, last] of sorted) {
    if (first > next) rest.push([next, first - 1]);
    next = Math.max(next, last + 1);
  }
  if (next <= maxCodePoint) rest.push([next, maxCodePoint]);
  return rest;
}

function written(ranges: Ranges): string {
  const hex = (point: number): string => `\\x{${point.toString(16)}}`;
  if (ranges.length === 0) return `[^${hex(0)}-${hex(maxCodePoint)}]`;
  return `[${ranges.map(([first, last]) => (first === last ? hex(first) : `${hex(first)}-${hex(last)}`)).join('')}]`;
}
