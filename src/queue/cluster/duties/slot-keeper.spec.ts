import { EventEmitter2 } from '@nestjs/event-emitter';
import { Subject } from 'rxjs';
import type { Database } from '../../../database/database.js';
import type { ModelsService } from '../../../models/models.service.js';
import { QueueEvents, type QueueChanges } from '../../queue-events.js';
import { Cluster } from '../cluster.js';
import { Slots } from '../slots.js';
import { SlotKeeper } from './slot-keeper.js';

const models = { changes: new Subject<void>(), takenBy: () => [] } as unknown as ModelsService;
const quiet = { known: true, hasLostNodes: false, hasOverdueLeases: false, cancelRequested: [] };

it.each<[what: string, changes: QueueChanges]>([
  ['another node finds a model away', { circuits: [{ modelId: 'a/model', isReached: false }] }],
  ['messages may have been lost', { missed: true }],
])('divides the slots again when %s', async (_what, changes) => {
  const [cluster, events] = [new Cluster(), new QueueEvents(new EventEmitter2())];
  const nodes = [cluster.nodeId, 'another'];
  let divisions = 0;
  const transaction = (): Promise<object[]> => {
    divisions++;
    return Promise.resolve([]);
  };
  const keeper = new SlotKeeper({ transaction } as unknown as Database, models, cluster, new Slots(), events);
  cluster.update({ ...quiet, nodes, schedulers: nodes, nowMs: 0, controls: '' }, performance.now());
  await keeper.runOnce();
  await keeper.runOnce();
  expect(divisions).toBe(1);
  events.publish(changes, 'elsewhere');
  await keeper.runOnce();
  expect(divisions).toBe(2);
});
