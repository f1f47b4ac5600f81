import type { Overview, OverviewChanges } from './types';

type Model = Overview['models'][number];
type ModelChanges = OverviewChanges['models'][number];

const historyMinutes = 60;

/** Unchanged parts keep their identity. */
export function changed({ models, nodes }: Overview, changes: OverviewChanges): Overview {
  const ofModels = new Map(changes.models.map((model) => [model.id, model]));
  const ofNodes = new Map(changes.nodes.map((node) => [node.id, node]));
  return {
    at: changes.at,
    models: models.map((model) => {
      const change = ofModels.get(model.id);
      return change === undefined ? model : changedModel(model, change);
    }),
    nodes: nodes.map((node) => ofNodes.get(node.id) ?? node),
  };
}

function changedModel(model: Model, { queue, history, ...members }: ModelChanges): Model {
  const next: Model = { ...model, ...members };
  if (history !== undefined) next.history = changedHistory(model.history, history);
  if (queue === null) delete next.queue;
  else if (queue !== undefined) {
    const gone = new Set(queue.gone);
    const stayed = (model.queue?.marks ?? []).filter(({ request_id }) => !gone.has(request_id));
    next.queue = { per_mark: queue.per_mark, marks: [...stayed, ...queue.marks] };
  }
  return next;
}

function changedHistory(before: Model['history'], changes: Model['history']): Model['history'] {
  const minutes = new Map([...before, ...changes].map((minute) => [minute.minute, minute]));
  return [...minutes.values()].slice(-historyMinutes);
}
