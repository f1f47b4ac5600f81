import { EventEmitter2 } from '@nestjs/event-emitter';
import { Subject } from 'rxjs';
import type { Database } from '../../../database/database.js';
import type { ModelsService } from '../../../models/models.service.js';
import { QueueEvents, type QueueChanges } from '../../queue-events.js';
import { Cluster } from '../cluster.js';
import type { Division } from '../queries/divide-slots.js';
import { Slots } from '../slots.js';
import { SlotKeeper } from './slot-keeper.js';

const models = { changes: new Subject<void>(), takenBy: () => [] } as unknown as ModelsService;
const quiet = { known: true, hasLostNodes: false, hasOverdueLeases: false, cancelRequested: [] };

const cluster = new Cluster();
const nodes = [cluster.nodeId, 'another'];
const events = new QueueEvents(new EventEmitter2());
/** The nodes that the next divisions find, and the number of divisions. */
let schedulers = nodes;
let divisions = 0;
let keeper: SlotKeeper;

const transaction = (): Promise<Division> => {
  divisions++;
  return Promise.resolve({ grants: [], schedulers });
};
const beat = (): void =>
  cluster.update({ ...quiet, nodes, schedulers: nodes, nowMs: 0, controls: '' }, performance.now());

beforeEach(() => {
  [schedulers, divisions] = [nodes, 0];
  keeper = new SlotKeeper({ transaction } as unknown as Database, models, cluster, new Slots(), events);
  beat();
});

it.each<[what: string, changes: QueueChanges]>([
  ['another node finds a model away', { circuits: [{ modelId: 'a/model', isReached: false }] }],
  ['messages may have been lost', { missed: true }],
])('divides the slots again when %s', async (_what, changes) => {
  await keeper.runOnce();
  await keeper.runOnce();
  expect(divisions).toBe(1);
  events.publish(changes, 'elsewhere');
  await keeper.runOnce();
  expect(divisions).toBe(2);
});

it('divides the slots again if a node was given up and came back between two heartbeats', async () => {
  schedulers = [cluster.nodeId];
  await keeper.runOnce();
  schedulers = nodes;
  beat();
  await keeper.runOnce();
  await keeper.runOnce();
  expect(divisions).toBe(2);
});
