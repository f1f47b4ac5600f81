import { randomUUID } from 'node:crypto';
import { defaultKey, ShareDatabase } from '../../src/limits/grants.js';
import { ShareKeeper } from '../../src/limits/share-keeper.js';
import type { GrantRequest } from '../../src/limits/budget.js';
import { Caller } from '../support/caller.js';
import { startTestService, type TestService, until } from '../support/index.js';

let service: TestService;
let shares: ShareDatabase;

beforeAll(async () => {
  service = await startTestService({ limits: '50/s,200/h' });
  shares = service.app.get(ShareDatabase);
});
afterAll(() => service.stop());

test('a node without others admits the first call of a new key without a row, and writes one for it', async () => {
  const caller = new Caller(service);
  const row = `SELECT FROM limit_share WHERE subject = '*'`;
  await until(async () => (await service.query(row)).length === 1);
  const key = await caller.newKey();
  const answer = await caller.submit(key);
  expect([answer.status, answer.headers.get('x-ratelimit-remaining')]).toEqual([202, '49']);
  const rows = (): Promise<{ subject: string; used: number[] }[]> =>
    service.query(`SELECT subject, used FROM limit_share WHERE route_class = 'submit'`);
  expect(await rows()).toEqual([]);
  for (let n = 0; n < 5; n++) expect((await caller.submit(key)).status).toBe(202);
  await until(async () => (await rows()).length === 1);
});

describe('in the database', () => {
  const key = { subject: 'key:a', routeClass: 'submit' as const, policy: '10/s,105/m' };
  const request: GrantRequest = {
    key,
    ...{ limits: [10, 105], windowsMs: [1_000, 60_000], held: [0, 0] },
    ...{ used: [0, 0], needed: [10, 105], wanted: [10, 105] },
  };
  let [alone, other]: [string, string] = ['', ''];

  beforeAll(() => service.app.get(ShareKeeper).stop());
  beforeEach(async () => {
    [alone, other] = [randomUUID(), randomUUID()];
    await service.query('DELETE FROM limit_share');
    await service.query('DELETE FROM limit_holder');
    await shares.register(alone);
  });

  const nothing = { rows: [], forgotten: [], silent: [] };
  /** Returns what `to` is granted, and gives it back at once. */
  const granted = async (to: string, gone: { id: string; forMs: number }[] = []): Promise<unknown> => {
    const { grants } = await shares.grant(to, [request], gone);
    await shares.write({ id: to, beat: nextBeat++ }, { ...nothing, forgotten: [key] });
    return grants[0]!.shares;
  };
  let nextBeat = 1;

  test('one that is alone has it, also when it asks again', async () => {
    expect(await shares.acquireDefault(alone)).toEqual({ isGranted: true, gone: [] });
    expect(await shares.acquireDefault(alone)).toEqual({ isGranted: true, gone: [] });
    expect(await granted(alone)).toEqual([10, 105]);
    await shares.leave(alone, []);
    expect(await shares.acquireDefault(alone)).toEqual({ isGranted: false, gone: [] });
    expect(await service.query('SELECT FROM limit_share')).toEqual([]);
  });

  test('beside another, or what one that is gone left, there is none', async () => {
    await shares.register(other);
    expect(await shares.acquireDefault(alone)).toEqual({ isGranted: false, gone: [] });
    await shares.leave(other, [{ key, shares: [1, 1], used: [1, 1] }]);
    expect(await shares.acquireDefault(alone)).toEqual({ isGranted: false, gone: [other] });
    await shares.prune([other]);
    expect(await shares.acquireDefault(alone)).toEqual({ isGranted: true, gone: [] });
  });

  test('it counts for others as a tenth of each limit, or as its row where that is more, until it is given up', async () => {
    await shares.acquireDefault(alone);
    await shares.register(other);
    expect(await granted(other)).toEqual([9, 95]);
    const row = (part: number[]) => ({ ...nothing, rows: [{ key, shares: part, used: [0, 0] }] });
    await shares.write({ id: alone, beat: nextBeat++ }, row([0, 30]));
    expect(await granted(other)).toEqual([9, 75]);
    await shares.write({ id: alone, beat: nextBeat++ }, { ...nothing, forgotten: [defaultKey] });
    expect(await granted(other)).toEqual([10, 75]);
  });

  test.each([
    ['a row', [{ key, shares: [5, 60], used: [1, 1] }], [5, 69]],
    ['no row', [], [9, 95]],
  ])('of one that crashed with %s it counts until the window is over', async (_, rows, justNow) => {
    await shares.acquireDefault(alone);
    const last = nextBeat++;
    await shares.write({ id: alone, beat: last }, { ...nothing, rows });
    await shares.register(other);
    await shares.write({ id: other, beat: nextBeat++ }, { ...nothing, silent: [{ id: alone, beat: last }] });
    const after = (forMs: number): Promise<unknown> => granted(other, [{ id: alone, forMs }]);
    expect(await granted(other)).toEqual(justNow);
    expect(await after(999)).toEqual(justNow);
    expect(await after(1_000)).toEqual([10, justNow[1]]);
    expect(await after(59_999)).toEqual([10, justNow[1]]);
    expect(await after(60_000)).toEqual([10, 105]);
    expect((await shares.grant(other, [request], [])).strays).toContain(alone);
  });

  test('of one that asks for it while another registers, never more than the limit is granted to both', async () => {
    for (let round = 0; round < 40; round++) {
      await service.query('DELETE FROM limit_share');
      const joining = shares.register((other = randomUUID())).then(() => granted(other));
      const [asked, share] = await Promise.all([shares.acquireDefault(alone), joining]);
      expect(share).toEqual(asked.isGranted ? [9, 95] : [10, 105]);
      await shares.leave(other, []);
    }
  });
});
