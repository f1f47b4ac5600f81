import { parseRateLimits } from '../config/parsers.js';
import { policyText } from '../config/rate-limits.js';
import type { HolderBeat, HolderUse, ShareStore, WriteResult } from './share-database.js';
import { type KeeperHost, ShareKeeper } from './share-keeper.js';
import type { Admission, LimitSubject, ShareRow } from './budget.js';

/** A process whose clock moves only when the test moves it. */
class Clock implements KeeperHost {
  private ms = 0;
  private readonly timers = new Set<{ at: number; work: () => void }>();

  now = (): number => this.ms;

  after = (ms: number, work: () => void): (() => void) => {
    const timer = { at: this.ms + ms, work };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  };

  hint = (): void => undefined;

  /** Moves the time without running timers. */
  jump(ms: number): void {
    this.ms += ms;
  }

  async pass(ms: number): Promise<void> {
    for (const end = this.ms + ms; this.ms < end; this.ms += 10) {
      for (const timer of Array.from(this.timers)) {
        if (timer.at > this.ms || !this.timers.delete(timer)) continue;
        timer.work();
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

const written: WriteResult = { isKnown: true, holders: [], asked: [] };
const caller = {
  subject: 'key:a',
  routeClass: 'submit' as const,
  limits: parseRateLimits('10/s'),
  hasKey: true,
};

let clock: Clock;
let keeper: ShareKeeper;
let store: ShareStore;
/** The result of the writes from now on. */
let writes: () => Promise<WriteResult>;
/** The rows of the last write. */
let rows: readonly ShareRow[];
/** True if nothing is free. */
let isShort: boolean;
/** Statements that asked for shares. */
let grants: number;
/** Holders of which the grants tell that they are gone. */
let strays: string[];
let useOfOthers: HolderUse[];
/** The other holders at the time of a registration. */
let registered: HolderBeat[];

beforeEach(async () => {
  clock = new Clock();
  writes = () => Promise.resolve(written);
  rows = [];
  isShort = false;
  grants = 0;
  strays = [];
  registered = [];
  store = {
    register: () => Promise.resolve({ holders: registered, gone: [] }),
    grant: (_, requests) => {
      grants++;
      const granted = requests.map(({ limits, held }) => ({
        shares: isShort ? held : limits,
        unallocated: limits.map(() => 0),
        isShort,
      }));
      return Promise.resolve({ isKnown: true, grants: granted, strays });
    },
    write: (_, request) => {
      rows = request.rows;
      return writes();
    },
    prune: () => Promise.resolve(),
    leave: () => Promise.resolve(),
    useOfOthers: () => Promise.resolve(useOfOthers),
  };
  keeper = new ShareKeeper(store, clock);
  await keeper.start();
  const first = keeper.admit(caller) as Promise<Admission>;
  await clock.pass(100);
  expect((await first).admitted).toBe(true);
});

/** Makes a call. `end` is the way in which it ended; undefined: it has not ended yet. */
function call(): { end?: string } {
  const ended: { end?: string } = {};
  void (async () => keeper.admit(caller))().then(
    ({ admitted }) => (ended.end = admitted ? 'admitted' : 'refused'),
    ({ code }: { code: string }) => (ended.end = code),
  );
  return ended;
}

it('lets calls wait for a late write, and admits them after it', async () => {
  let answer!: (result: WriteResult) => void;
  writes = () => new Promise((resolve) => (answer = resolve));
  await clock.pass(4_500);
  const late = call();
  await clock.pass(500);
  expect(late.end).toBeUndefined();
  writes = () => Promise.resolve(written);
  answer(written);
  await clock.pass(1_500);
  expect(late.end).toBe('admitted');
});

it('writes its usage in time while other nodes continuously ask for shares', async () => {
  const limits = parseRateLimits('1000/m');
  const keyOf = (n: number) => ({ subject: `key:${n % 500}`, routeClass: 'submit' as const });
  for (let n = 0; n < 500; n++) void keeper.admit({ ...keyOf(n), limits, hasKey: true });
  await clock.pass(100);
  writes = () => new Promise((resolve) => clock.after(30, () => resolve(written)));
  let asked = 0;
  const ask = (): void => {
    keeper.onAsked([{ ...keyOf(asked++), policy: policyText(limits) }]);
    clock.after(10, ask);
  };
  ask();
  await clock.pass(4_500);
  const next = call();
  await clock.pass(10);
  expect(next.end).toBe('admitted');
});

it('answers a waiting call with unavailable after 2 s without a completed write', async () => {
  writes = () => new Promise(() => undefined);
  await clock.pass(4_500);
  const late = call();
  await clock.pass(1_900);
  expect(late.end).toBeUndefined();
  await clock.pass(200);
  expect(late.end).toBe('unavailable');
});

it('lets calls wait for the next round if the process itself was late', async () => {
  clock.jump(4_000);
  const late = call();
  await clock.pass(100);
  expect(late.end).toBe('admitted');
});

it('ends only the call that waited too long, and lets later calls wait longer', async () => {
  writes = () => new Promise(() => undefined);
  await clock.pass(4_500);
  const first = call();
  await clock.pass(1_500);
  const second = call();
  await clock.pass(600);
  expect([first.end, second.end]).toEqual(['unavailable', undefined]);
});

it('lets calls wait while the other nodes treat the node as lost, and admits them once it is registered again', async () => {
  let answer!: (result: WriteResult) => void;
  writes = () => new Promise((resolve) => (answer = resolve));
  await clock.pass(4_500);
  const before = call();
  await clock.pass(100);
  writes = () => Promise.resolve(written);
  answer({ ...written, isKnown: false });
  const after = call();
  await clock.pass(1_500);
  expect([before.end, after.end]).toEqual(['admitted', 'admitted']);
});

it('answers calls with unavailable at once after a failed write', async () => {
  writes = () => Promise.reject(new Error('the connection is lost'));
  await clock.pass(4_500);
  const refused = call();
  await clock.pass(10);
  expect(refused.end).toBe('unavailable');
});

it('writes the row of a short budget, because the row may state more than the node holds', async () => {
  isShort = true;
  const other = { ...caller, subject: 'key:b' };
  void (async () => keeper.admit(other))().catch(() => undefined);
  await clock.pass(1_500);
  expect(rows).toMatchObject([{ key: { subject: 'key:b' }, shares: [0], used: [0] }]);
});

it('admits as many of several calls as there is room for, with one grant, and refuses the others', async () => {
  const items = { ...caller, subject: 'key:b', routeClass: 'batch' as const };
  grants = 0;
  const asked = keeper.admitSome(items, 25);
  await clock.pass(100);
  const many = await asked;
  expect([many.admitted, many.admission.admitted, grants]).toEqual([10, false, 1]);
  expect(await keeper.admitSome(items, 5)).toMatchObject({ admitted: 0 });
  await clock.pass(1_000);
  expect(await keeper.admitSome(items, 5)).toMatchObject({ admitted: 5, admission: { admitted: true } });
});

it('admits all of several calls or none, and still admits fewer calls that fit', async () => {
  await clock.pass(1_000);
  expect((await keeper.admit(caller, 6)).admitted).toBe(true);
  const refused = await keeper.admit(caller, 6);
  expect([refused.admitted, refused.windows[0]!.remaining]).toEqual([false, 4]);
  expect((await keeper.admit(caller, 4)).admitted).toBe(true);
  expect((await keeper.admit(caller)).admitted).toBe(false);
});

it('keeps no hint that comes while it is not registered', async () => {
  let left = false;
  store.leave = async () => void (left = true);
  await clock.pass(25_000);
  expect(left).toBe(true);
  let looks = 0;
  const key = {
    routeClass: 'submit' as const,
    policy: '10/s',
    get subject() {
      looks++;
      return 'key:b';
    },
  };
  keeper.onAsked([key]);
  const atOnce = looks;
  const next = call();
  await clock.pass(1_500);
  expect([next.end, looks]).toEqual(['admitted', atOnce]);
});

/** Starts a keeper that finds another holder, and makes a call for which nothing is free. */
async function callBeside(other: HolderBeat): Promise<{ end?: string }> {
  registered = [other];
  isShort = true;
  writes = () => Promise.resolve({ ...written, holders: [other] });
  await keeper.stop();
  keeper = new ShareKeeper(store, clock);
  await keeper.start();
  return call();
}

it('lets a call wait for the share of a crashed predecessor, until that share is free', async () => {
  const predecessor = { id: 'predecessor', beat: 7 };
  const ended = await callBeside(predecessor);
  await clock.pass(3_500);
  expect(ended.end).toBeUndefined();
  writes = () => Promise.resolve(written);
  await clock.pass(1_100);
  isShort = false;
  await clock.pass(200);
  expect(ended.end).toBe('admitted');
});

it('refuses a call that waits for the share of another holder as soon as that holder beats', async () => {
  const other = { id: 'other', beat: 7 };
  const ended = await callBeside(other);
  await clock.pass(500);
  expect(ended.end).toBeUndefined();
  writes = () => Promise.resolve({ ...written, holders: [{ ...other, beat: 8 }] });
  await clock.pass(1_100);
  expect(ended.end).toBe('refused');
});

/** Returns what is left of each window when another holder used `used` and has been gone for `goneMs`. */
async function left(used: number[], goneMs: number | undefined): Promise<number[]> {
  const policy = '10/s,100/m,1000/h';
  const subject: LimitSubject = { ...caller, subject: 'key:b', limits: parseRateLimits(policy) };
  useOfOthers = [{ subject: 'key:b', routeClass: 'submit', policy, holderId: 'other', used }];
  if (goneMs !== undefined) strays = ['other'];
  void keeper.admit({ ...subject, subject: 'key:c' });
  await clock.pass(100);
  clock.jump(goneMs ?? 0);
  const own = keeper.admit(subject) as Promise<Admission>;
  await clock.pass(100);
  expect((await own).admitted).toBe(true);
  return (await keeper.quotasOf(['key:b']))(subject).map(({ remaining }) => remaining);
}

it.each([
  ['lives', undefined, [9, 69, 899]],
  ['left a moment ago', 2_000, [9, 69, 899]],
  ['is gone for more than a minute', 61_000, [9, 99, 899]],
  ['is gone for more than an hour', 3_601_000, [9, 99, 999]],
])(
  'the usage of another holder counts until the end of the window, if that holder %s',
  async (_, goneMs, expected) => {
    expect(await left([8, 30, 100], goneMs)).toEqual(expected);
  },
);
