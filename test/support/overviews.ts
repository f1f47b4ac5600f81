import type { OverviewAliveDto, OverviewChangesDto, OverviewDto } from '../../src/admin/live/live.dto.js';
import type { StreamReader } from './stream-reader.js';

/** Returns the overviews that a stream of `/v1/admin/events` has shown, in order. */
export function overviewsOf(stream: StreamReader): OverviewDto[] {
  const shown: OverviewDto[] = [];
  for (const { type, data } of stream.events) {
    const last = shown.at(-1);
    if (type === 'overview') shown.push(data as unknown as OverviewDto);
    else if (type === 'changes') shown.push(applied(last!, data as unknown as OverviewChangesDto));
  }
  return shown;
}

/** Returns the `alive` events of a stream of `/v1/admin/events`. */
export const aliveOf = (stream: StreamReader): OverviewAliveDto[] =>
  stream.events.flatMap(({ type, data }) => (type === 'alive' ? (data as unknown as OverviewAliveDto) : []));

function applied(last: OverviewDto, { at, models, nodes }: OverviewChangesDto): OverviewDto {
  return {
    at,
    models: last.models.map((model) => {
      const {
        queue,
        history = [],
        ...members
      } = models.find(({ id }) => id === model.id) ?? { id: model.id };
      const minutes = new Map([...model.history, ...history].map((one) => [one.minute, one]));
      const next: OverviewDto['models'][number] = {
        ...model,
        ...(members as Partial<typeof model>),
        history: [...minutes.values()].slice(-60),
      };
      if (queue === null) delete next.queue;
      else if (queue !== undefined) {
        const stayed = model.queue?.marks.filter(({ request_id: id }) => !queue.gone.includes(id)) ?? [];
        next.queue = { per_mark: queue.per_mark, marks: [...stayed, ...queue.marks] };
      }
      return next;
    }),
    nodes: last.nodes.map((node) => nodes.find(({ id }) => id === node.id) ?? node),
  };
}
