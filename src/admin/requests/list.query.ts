import { ApiSchema } from '@nestjs/swagger';
import type { Handles } from '../../auth/handles.js';
import { type Caller, hasScope } from '../../auth/caller.js';
import { Option } from '../../http/input/option.js';
import { CursorOption } from '../../http/input/page.js';
import { ids, text, uuid } from '../../tools/rules.js';
import type { OperatorFilter } from '../../queue/reads/request-filter.js';
import { isRequestId } from '../../queue/submit/request-id.js';
import { RequestFilterDto } from '../../requests/dto/collection.dto.js';
import { ListQuery, toFilter } from '../../requests/dto/list.query.js';

export const maxIds = 10_000;

const KeyIdOption = () => Option(uuid, 'Only requests of this key.');
const CodeOption = () => Option(text, 'Only requests that failed with this code.', 'model_error');
const NodeOption = () =>
  Option(text, 'Only requests that run or ran on the node or worker of this name.', 'gpu-2');
const IdPrefixOption = () =>
  Option(
    text,
    'Only requests whose id begins with this prefix. Without the scope `payloads` it must be a whole handle, ' +
      '`rh_…`.',
    '0198f3c2',
  );

/** The filters of a list of all keys' requests. */
export class AdminListQuery extends ListQuery {
  @KeyIdOption() key_id: string | undefined;
  @CodeOption() code: string | undefined;
  @NodeOption() node: string | undefined;
  @IdPrefixOption() id_prefix: string | undefined;
}

/** The filter of an operation, in JSON. */
@ApiSchema({
  name: 'AnyRequestFilter',
  description: 'A filter of the requests of all keys. A request must match every filter that is given.',
})
export class AdminFilterQuery extends RequestFilterDto {
  @KeyIdOption() key_id: string | undefined;
  @CodeOption() code: string | undefined;
  @NodeOption() node: string | undefined;
  @IdPrefixOption() id_prefix: string | undefined;
  @Option(ids(maxIds, 'ids or handles'), 'Only these requests: ids or handles.')
  ids: readonly string[] | undefined;
}

/** The options of a log, whose pages have one size. */
export class LogQuery {
  readonly limit = 1_000;
  @CursorOption() cursor: string | undefined;
}

export function toOperatorFilter(
  query: Partial<AdminFilterQuery>,
  caller: Caller,
  handles: Handles,
): OperatorFilter {
  const given = query.ids?.map((id) => handles.idOf(id)).filter(isRequestId);
  const begun: OperatorFilter =
    query.id_prefix === undefined ? {} : prefixed(query.id_prefix, caller, handles);
  return {
    ...toFilter(query),
    keyId: query.key_id,
    code: query.code,
    node: query.node,
    ...begun,
    ids: given === undefined ? begun.ids : given.filter((id) => begun.ids?.includes(id) ?? true),
  };
}

/** A caller that may not see ids must not be able to find them digit by digit. */
function prefixed(prefix: string, caller: Caller, handles: Handles): OperatorFilter {
  const written = prefix.trim().toLowerCase();
  const id = handles.idOf(prefix.trim());
  if (id !== prefix.trim()) return { ids: [id] };
  if (isRequestId(written)) return { ids: [written] };
  const isPrefix = /^[0-9a-f][0-9a-f-]{0,35}$/.test(written) && hasScope(caller, 'payloads');
  return isPrefix ? { idPrefix: written } : { ids: [] };
}
