import { EventEmitter2 } from '@nestjs/event-emitter';
import type { BoundedKeys } from '../waiting/bounded-keys.js';
import { QueueEvents } from '../queue-events.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { type Placed, SubmissionWriter } from './submission-writer.js';

let writer: SubmissionWriter;
let seq = 0;
beforeEach(() => {
  writer = new SubmissionWriter(
    new QueueEvents(new EventEmitter2()),
    new WaitingIndex(),
    {} as unknown as BoundedKeys,
  );
});

/** A statement that commits on demand. */
class Statement {
  commit!: () => void;
  private readonly committed = new Promise<void>((resolve) => (this.commit = resolve));

  run = async (): Promise<{ seq: number }[]> => {
    await this.committed;
    return [{ seq: ++seq }];
  };
}

const item = (modelId = 'test/model'): Placed => ({
  id: '01a1fbb3-65c9-706a-ab5f-d44e3660d916',
  modelId,
  keyId: '01a1fbb3-65c9-706a-ab5f-000000000000',
  priority: 0,
  virtualStart: 0,
  ticks: 1_000,
  isBounded: false,
});

/** Writes an item. `done` resolves when its caller would be answered. */
function submit(
  path: 'pipeline' | 'connection',
  name: string,
  answered: string[],
  modelId?: string,
): { statement: Statement; done: Promise<void> } {
  const statement = new Statement();
  const write = async (): Promise<void> => {
    const [written] = await writer.write([item(modelId)], statement.run, path);
    await written!.visibleAfter;
    answered.push(name);
  };
  return { statement, done: write() };
}

/** Waits until all has happened that can happen without another commit. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it.each(['pipeline', 'connection'] as const)(
  'answers a submission by the %s after the scheduled requests that were placed before it',
  async (path) => {
    const answered: string[] = [];
    const scheduled = new Statement();
    const placing = writer.placing(scheduled.run);
    const { statement, done } = submit(path, 'submission', answered);
    statement.commit();
    await settled();
    expect(answered).toEqual([]);
    scheduled.commit();
    await Promise.all([placing, done]);
    expect(answered).toEqual(['submission']);
  },
);

it('answers a submission although the scheduled requests before it could not be written', async () => {
  const answered: string[] = [];
  const placing = writer.placing(() => Promise.reject(new Error('the connection is lost')));
  const { statement, done } = submit('pipeline', 'submission', answered);
  statement.commit();
  await expect(placing).rejects.toThrow('the connection is lost');
  await done;
  expect([answered, writer.isIdle]).toEqual([['submission'], true]);
});

it('answers a batch after the batch before it, without waiting for the next one', async () => {
  const answered: string[] = [];
  const [first, second, third] = ['first', 'second', 'third'].map((name) =>
    submit('pipeline', name, answered),
  );
  second!.statement.commit();
  await settled();
  expect(answered).toEqual([]);
  first!.statement.commit();
  await Promise.all([first!.done, second!.done]);
  expect(answered.toSorted()).toEqual(['first', 'second']);
  third!.statement.commit();
  await third!.done;
});

it('delays a submission behind a write for its own model, but not for another model', async () => {
  const answered: string[] = [];
  const large = submit('connection', 'large', answered);
  const other = submit('pipeline', 'other', answered, 'test/other');
  const same = submit('pipeline', 'same', answered);
  other.statement.commit();
  same.statement.commit();
  await settled();
  expect(answered).toEqual(['other']);
  large.statement.commit();
  await Promise.all([large.done, same.done]);
  expect(answered.sort()).toEqual(['large', 'other', 'same']);
});
