import { validate as isUuid } from 'uuid';
import { DomainError } from '../errors/domain-error.js';
import { decodeCursor, encodeCursor } from '../http/list-cursor.js';
import type { Reply } from '../http/reply.js';
import { CursorOption, defaultLimit, LimitOption, optionsOf } from '../requests/dto/list.query.js';
import { isOption } from '../requests/dto/submit.query.js';
import { type Class, ruledProperties } from '../tools/validation.js';

/** What every list takes; one with filters extends it. */
export class PageQuery {
  @LimitOption() limit: number | undefined;
  @CursorOption() cursor: string | undefined;
}

/** A page that is asked for. */
export interface PageCall<Query> {
  filter: Readonly<Query>;
  /** Read one row more: it says that there is another page. */
  limit: number;
  /** What the page before ended with; undefined: this is the first. */
  after: string | undefined;
  /** The filters as they were written. */
  written: object;
}

interface PageOf<Row> {
  /** One more than the page holds, if there are as many. */
  rows: readonly Row[];
  positionOf(row: Row): string;
  /** Where the next page goes on, though this one is not full; undefined: there is none then. */
  resumeAt?: string | undefined;
  toView(row: Row): object;
  /** Of the URLs in the answer. */
  base: string;
}

/** A list of /v1/admin in pages. A cursor is opaque, holds the filters, and says where the page before ended. */
export class CursorList<Query extends PageQuery> {
  /** `isPosition`: whether a text may be one, as a cursor can be made up. */
  constructor(
    private readonly path: string,
    private readonly query: Class<Query>,
    private readonly isPosition: (text: string) => boolean = isUuid,
  ) {}

  /** `query` as the call has it. */
  call(query: object): PageCall<Query> {
    const { cursor, limit } = this.optionsOf(query);
    const given = writtenFilters(query);
    if (cursor === undefined) {
      const filter = this.optionsOf(given);
      return { filter, limit: limit ?? defaultLimit, after: undefined, written: given };
    }
    const { query: begun, position } = decodeCursor(this.path, cursor, this.isPosition);
    const written = writtenFilters(begun);
    if (Object.keys(given).length > 0 && JSON.stringify(given) !== JSON.stringify(written)) {
      const detail =
        'The option "cursor" has the filters of its list: give it alone, or begin the list anew.';
      throw new DomainError('invalid_query', detail);
    }
    const own = limit ?? this.optionsOf(begun).limit ?? defaultLimit;
    return { filter: this.optionsOf(written), limit: own, after: position, written };
  }

  reply<Row>(
    { limit, written }: PageCall<Query>,
    { rows, positionOf, resumeAt, toView, base }: PageOf<Row>,
  ): Reply {
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? positionOf(page.at(-1)!) : resumeAt;
    const query = { ...written, limit: String(limit) };
    const next = last === undefined ? null : encodeCursor(this.path, { query, position: last });
    const fields = next === null ? [] : ['Link', `<${base}${this.path}?cursor=${next}>; rel="next"`];
    return { status: 200, fields, body: JSON.stringify({ data: page.map(toView), next_cursor: next }) };
  }

  private optionsOf(plain: object): Readonly<Query> {
    return optionsOf(this.query, plain, ruledProperties(this.query));
  }
}

function writtenFilters(query: object): object {
  const filters = Object.entries(query).filter(
    ([name, value]) => name !== 'cursor' && name !== 'limit' && isOption(value),
  );
  return Object.fromEntries(filters.sort(([one], [other]) => (one < other ? -1 : 1)));
}
