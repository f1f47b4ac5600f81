import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { validate as isUuid } from 'uuid';
import { DomainError } from '../../errors/domain-error.js';
import type { Class } from '../../tools/validation.js';
import { type Rule, rule, text } from '../../tools/rules.js';
import { ClientAddress } from '../client-address.js';
import { ApiOptions } from '../openapi/parameters.js';
import { Call, CallPipe } from './decorators.js';
import { decodeCursor, encodeCursor, invalidCursor } from './list-cursor.js';
import { isOption, Option, optionNames, optionsOf } from './option.js';

export const defaultLimit = 20;

/** The number of entries on a page. */
export const LimitOption = (most = 100, usual = defaultLimit) =>
  Option(limitRule(most, usual), `The number of entries on a page. A value above ${most} counts as ${most}.`);

const limitRule = (most: number, usual: number): Rule<number> =>
  rule({ type: 'integer', minimum: 1, default: usual }, (value) => {
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : 0;
    if (number < 1) throw new Error(`expected a whole number from 1 to ${most}`);
    return Math.min(number, most);
  });

/** Where a list continues. */
export const CursorOption = () =>
  Option(text, 'The `next_cursor` of the previous page. It includes the filters and the limit of that page.');

/** The options of a list. */
export interface ListOptions {
  limit: number;
  cursor: string | undefined;
}

/** The options of most lists. A list with filters extends it. */
export class PageQuery implements ListOptions {
  @LimitOption() limit = defaultLimit;
  @CursorOption() cursor: string | undefined;
}

/** The entries of a page, as they are answered. */
export interface PageAnswer<View> {
  data: View[];
  next_cursor: string | null;
}

/** A page that a call asks for. */
export class Page<Query extends ListOptions> {
  /** `query`: the options, with the filters of the cursor if there is one. `written`: the filters as the caller wrote them. */
  private constructor(
    readonly query: Query,
    readonly written: object,
    private readonly position: string | undefined,
    private readonly list: { path: string; hasLimit: boolean; link(cursor: string): void },
  ) {}

  /** `path`: that of the list. `link`: called with the cursor of the next page. */
  static read<Query extends ListOptions>(
    type: Class<Query>,
    query: object,
    path: string,
    link: (cursor: string) => void,
  ): Page<Query> {
    const list = { path, hasLimit: optionNames(type).includes('limit'), link };
    const { cursor, limit, filters } = partsOf(query);
    if (cursor === undefined) return new Page(optionsOf(type, query), filters, undefined, list);
    const { query: begun, position } = decodeCursor(path, cursor);
    const { limit: begunLimit, filters: written } = partsOf(begun);
    if (Object.keys(filters).length > 0 && JSON.stringify(filters) !== JSON.stringify(written)) {
      const detail =
        'The option "cursor" already has the filters of its list. Send it alone, or start the list again.';
      throw new DomainError('invalid_query', detail);
    }
    const options = optionsOf(type, { ...written, limit: limit ?? begunLimit });
    return new Page(options, written, position, list);
  }

  /** At most this many entries. One row more shows whether there is another page. */
  get limit(): number {
    return this.query.limit;
  }

  /**
   * Where the previous page ended; undefined: this is the first page. `read` returns undefined for what is no position,
   * because a cursor can be made up.
   */
  after<Position>(read: (text: string) => Position | undefined): Position | undefined {
    if (this.position === undefined) return undefined;
    const position = read(this.position);
    if (position === undefined) throw invalidCursor();
    return position;
  }

  /** The same for a list in the order of UUIDs. */
  get afterId(): string | undefined {
    return this.after((id) => (isUuid(id) ? id : undefined));
  }

  /** `rows`: those of the page, and one more if there is one. */
  of<Row, View>(
    rows: readonly Row[],
    positionOf: (row: Row) => string,
    toView: (row: Row) => View,
  ): PageAnswer<View> {
    const shown = rows.slice(0, this.limit);
    return this.until(shown, rows.length > this.limit ? positionOf(shown.at(-1)!) : null, toView);
  }

  /** `end`: the position at which the next page begins; null: there is none. */
  until<Row, View>(rows: readonly Row[], end: string | null, toView: (row: Row) => View): PageAnswer<View> {
    const { path, hasLimit, link } = this.list;
    const query = { ...this.written, ...(hasLimit && { limit: String(this.limit) }) };
    const next = end === null ? null : encodeCursor(path, { query, position: end });
    if (next !== null) link(next);
    return { data: rows.map((row) => toView(row)), next_cursor: next };
  }
}

function partsOf(query: object): { cursor?: unknown; limit?: unknown; filters: object } {
  const given = Object.entries(query).filter(([, value]) => isOption(value));
  const { cursor, limit, ...filters } = Object.fromEntries(given) as Record<string, unknown>;
  const sorted = Object.entries(filters).sort(([one], [other]) => (one < other ? -1 : 1));
  return { cursor, limit, filters: Object.fromEntries(sorted) };
}

/** The page that a call of a list asks for. `type`: the class of the options. */
export function PageOf(type: Class<ListOptions>): ParameterDecorator {
  return (target, name, index) => {
    ApiOptions(type)(target, name!, Object.getOwnPropertyDescriptor(target, name!)!);
    Call(type, PagePipe)(target, name, index);
  };
}

@Injectable()
class PagePipe extends CallPipe<Page<ListOptions>> {
  constructor(private readonly addresses: ClientAddress) {
    super();
  }

  of(request: Request, type: Class<ListOptions>, response: Response): Page<ListOptions> {
    const path = request.path.replace(/\/$/, '');
    const url = this.addresses.baseUrl(request) + path;
    return Page.read(type, request.query, path, (cursor) =>
      response.setHeader('Link', `<${url}?cursor=${cursor}>; rel="next"`),
    );
  }
}
