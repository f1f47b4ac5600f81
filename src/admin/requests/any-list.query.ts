import { ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { validate as isUuid } from 'uuid';
import type { Handles } from '../../auth/handles.js';
import { type Caller, hasScope } from '../../auth/caller.js';
import { problem } from '../../http/input/validated.js';
import type { AnyRequestFilter } from '../../queue/request-filter.js';
import { isRequestId } from '../../queue/submit/request-id.js';
import { FilterQuery, filterNames, ListQuery, toFilter } from '../../requests/dto/list.query.js';
import { Option, optionsOf } from '../../http/input/option.js';
import { text } from '../../http/input/values.js';
import { allOf, Parsed } from '../../tools/validation.js';

const maxIds = 10_000;

const keyId = (): PropertyDecorator =>
  Option('key_id', uuid, 'Only requests of this key.', undefined, { format: 'uuid' });
const code = (): PropertyDecorator =>
  Option('code', text, 'Only requests that failed with this code.', 'model_error');
const node = (): PropertyDecorator =>
  Option('node', text, 'Only requests that run or ran on the node or worker of this name.', 'gpu-2');
const idPrefix = (): PropertyDecorator =>
  Option(
    'id_prefix',
    text,
    'Only requests whose id begins with this prefix. Without the scope `payloads` it must be a whole handle, ' +
      '`rh_…`.',
    '0198f3c2',
  );

/** The filters of a list of all keys' requests. */
export class AnyListQuery extends ListQuery {
  @keyId() key_id: string | undefined;
  @code() code: string | undefined;
  @node() node: string | undefined;
  @idPrefix() id_prefix: string | undefined;
}

/** The filter of an operation, in JSON. */
@ApiSchema({
  name: 'AnyRequestFilter',
  description: 'A filter of the requests of all keys. A request must match every filter that is given.',
})
export class AnyFilterQuery extends FilterQuery {
  @keyId() key_id: string | undefined;
  @code() code: string | undefined;
  @node() node: string | undefined;
  @idPrefix() id_prefix: string | undefined;

  @allOf(
    Parsed(texts, problem('invalid_query')),
    ApiPropertyOptional({
      description: 'Only these requests: ids or handles.',
      type: [String],
      maxItems: maxIds,
    }),
  )
  ids: readonly string[] | undefined;
}

const ownNames = ['key_id', 'code', 'node', 'id_prefix'];

export interface AnyListOptions {
  filter: AnyRequestFilter;
  limit: number | undefined;
  cursor: string | undefined;
}

export function anyListOptions(plain: object, caller: Caller, handles: Handles): AnyListOptions {
  const query = optionsOf(AnyListQuery, plain, [...filterNames, ...ownNames, 'limit', 'cursor']);
  return { filter: anyFilter(query, caller, handles), limit: query.limit, cursor: query.cursor };
}

export function anyFilterOptions(plain: object, caller: Caller, handles: Handles): AnyRequestFilter {
  return anyFilter(optionsOf(AnyFilterQuery, plain, [...filterNames, ...ownNames, 'ids']), caller, handles);
}

function anyFilter(
  query: Readonly<AnyListQuery | AnyFilterQuery>,
  caller: Caller,
  handles: Handles,
): AnyRequestFilter {
  const ids = 'ids' in query ? query.ids?.map((id) => handles.idOf(id)).filter(isRequestId) : undefined;
  const begun: AnyRequestFilter =
    query.id_prefix === undefined ? {} : prefixed(query.id_prefix, caller, handles);
  return {
    ...toFilter(query),
    keyId: query.key_id,
    code: query.code,
    node: query.node,
    ...begun,
    ids: ids === undefined ? begun.ids : ids.filter((id) => begun.ids?.includes(id) ?? true),
  };
}

/** A caller that may not see ids must not be able to find them digit by digit. */
function prefixed(prefix: string, caller: Caller, handles: Handles): AnyRequestFilter {
  const written = prefix.trim().toLowerCase();
  const id = handles.idOf(prefix.trim());
  if (id !== prefix.trim()) return { ids: [id] };
  if (isRequestId(written)) return { ids: [written] };
  const isPrefix = /^[0-9a-f-]{1,36}$/.test(written) && hasScope(caller, 'payloads');
  return isPrefix ? { idPrefix: written } : { ids: [] };
}

function uuid(value: unknown): string {
  const id = text(value);
  if (!isUuid(id)) throw new Error('expected the id of a key, which is a UUID');
  return id;
}

function texts(value: unknown): readonly string[] {
  const areTexts = Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (areTexts && value.length >= 1 && value.length <= maxIds) return value;
  throw new Error(`The option "ids": expected 1 to ${maxIds} ids or handles.`);
}
