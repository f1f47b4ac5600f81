import { validate as isUuid } from 'uuid';
import { DomainError } from '../errors/domain-error.js';
import { decodeCursor, encodeCursor } from '../http/input/list-cursor.js';
import type { Reply } from '../http/reply.js';
import { CursorOption, defaultLimit, LimitOption } from '../http/input/page.js';
import { isOption, optionsOf } from '../http/input/option.js';
import type { Class } from '../tools/validation.js';

/** The options that every list takes. A list with filters extends it. */
export class PageQuery {
  @LimitOption() limit: number | undefined;
  @CursorOption() cursor: string | undefined;
}

/** A page that is asked for. */
export interface PageCall<Query> {
  filter: Readonly<Query>;
  /** Read one row more than this: it shows whether there is another page. */
  limit: number;
  /** The position at which the previous page ended; undefined: this is the first page. */
  after: string | undefined;
  /** The filters as the caller wrote them. */
  written: object;
}

interface PageOf<Row> {
  /** The rows of the page, and one more if there is one. */
  rows: readonly Row[];
  positionOf(row: Row): string;
  /** Where the next page goes on although this one is not full; undefined: no page follows one that is not full. */
  resumeAt?: string | undefined;
  toView(row: Row): object;
  /** The base of the URLs in the answer. */
  base: string;
}

/** A list of /v1/admin in pages. A cursor is opaque, and holds the filters and the end of the previous page. */
export class CursorList<Query extends PageQuery> {
  /** `isPosition`: whether a text may be a position, because a cursor can be made up. */
  constructor(
    private readonly path: string,
    private readonly query: Class<Query>,
    private readonly isPosition: (text: string) => boolean = isUuid,
  ) {}

  /** `query`: as it is in the call. */
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
        'The option "cursor" already has the filters of its list. Send it alone, or start the list again.';
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
    return optionsOf(this.query, plain);
  }
}

function writtenFilters(query: object): object {
  const filters = Object.entries(query).filter(
    ([name, value]) => name !== 'cursor' && name !== 'limit' && isOption(value),
  );
  return Object.fromEntries(filters.sort(([one], [other]) => (one < other ? -1 : 1)));
}
