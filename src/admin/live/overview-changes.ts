import type { MinuteCountsDto, QueueFrontDto } from '../../overview/dto/model-figures.dto.js';
import type { AdminModelDto } from '../models/models.dto.js';
import type { ModelChangesDto, OverviewChangesDto, OverviewDto, QueueChangesDto } from './live.dto.js';

export type OverviewContent = Omit<OverviewDto, 'at'>;
export type OverviewChanges = Omit<OverviewChangesDto, 'at'>;

/** Returns the changes from `before` to `after`. undefined: `after` has other models or nodes. */
export function changesOf(before: OverviewContent, after: OverviewContent): OverviewChanges | undefined {
  if (!hasSame(before.models, after.models) || !hasSame(before.nodes, after.nodes)) return undefined;
  return {
    models: after.models.flatMap((model, at) => modelChanges(before.models[at]!, model) ?? []),
    nodes: after.nodes.filter((node, at) => !isSame(before.nodes[at], node)),
  };
}

type Named = readonly { id: string }[];

const hasSame = (before: Named, after: Named): boolean =>
  before.length === after.length && after.every(({ id }, at) => before[at]!.id === id);

const isSame = (before: unknown, after: unknown): boolean =>
  before === after || JSON.stringify(before) === JSON.stringify(after);

function modelChanges(before: AdminModelDto, after: AdminModelDto): ModelChangesDto | undefined {
  const { queue: queueBefore, history: historyBefore, ...others } = before;
  const { queue: queueAfter, history: historyAfter, ...members } = after;
  const changed = Object.entries(members).filter(
    ([name, value]) => !isSame(others[name as keyof typeof others], value),
  );
  const history = minuteChanges(historyBefore, historyAfter);
  const queue = queueChanges(queueBefore, queueAfter);
  if (changed.length === 0 && history.length === 0 && queue === undefined) return undefined;
  return {
    ...(Object.fromEntries(changed) as Partial<typeof members>),
    id: after.id,
    ...(history.length > 0 && { history }),
    ...(queue !== undefined && { queue }),
  };
}

function minuteChanges(
  before: readonly MinuteCountsDto[],
  after: readonly MinuteCountsDto[],
): MinuteCountsDto[] {
  const known = new Map(before.map((minute) => [minute.minute, minute]));
  return after.filter(({ minute, started, completed, failed }) => {
    const old = known.get(minute);
    return old?.started !== started || old.completed !== completed || old.failed !== failed;
  });
}

/** null: nothing waits any more. Marks at the beginning that have stayed are not sent again. */
function queueChanges(
  before: QueueFrontDto | undefined,
  after: QueueFrontDto | undefined,
): QueueChangesDto | null | undefined {
  if (after === undefined) return before === undefined ? undefined : null;
  const old = before?.marks ?? [];
  const gone: string[] = [];
  let kept = 0;
  for (const { request_id: id, since } of old) {
    const next = after.marks[kept];
    if (next?.request_id === id && next.since === since) kept++;
    else gone.push(id);
  }
  const marks = after.marks.slice(kept);
  if (before?.per_mark === after.per_mark && gone.length + marks.length === 0) return undefined;
  return { per_mark: after.per_mark, gone, marks };
}
