import { HostLimiter } from './host-limiter.js';

const roomAt = (limiter: HostLimiter, host: string): number | undefined =>
  limiter.room().hosts.find((one) => one.host === host)?.room;

test('a host that answers gets more tries at once, up to its share', () => {
  const limiter = new HostLimiter({ maxTries: 64, maxTriesOfHost: 16 });
  const rooms = [1, 2, 3, 4].map(() => {
    limiter.begin('a', 'key')(true);
    return roomAt(limiter, 'a');
  });
  expect(rooms).toEqual([4, 8, 16, 16]);
});

test('a host that does not answer gets one try at a time until it answers', () => {
  const limiter = new HostLimiter({ maxTries: 64, maxTriesOfHost: 16 });
  limiter.begin('a', 'key')(true);
  limiter.begin('a', 'key')(false, 0);
  expect(roomAt(limiter, 'a')).toBe(1);
  const end = limiter.begin('a', 'key');
  expect(roomAt(limiter, 'a')).toBe(0);
  end(true);
  expect(roomAt(limiter, 'a')).toBe(2);
});

test('a host that does not answer rests between its tries, longer each time', () => {
  const limiter = new HostLimiter({ maxTries: 64, maxTriesOfHost: 16 });
  const rests = [1, 2, 3, 4, 5, 6, 7].map(() => {
    limiter.begin('a', 'key')(false, 1_000);
    expect(limiter.room(1_009).hosts).toEqual([{ host: 'a', room: 0, answers: false }]);
    return limiter.nextRestEndInMs(1_000);
  });
  expect(rests).toEqual([10, 20, 40, 80, 160, 250, 250]);
  expect(limiter.room(1_250).hosts).toEqual([{ host: 'a', room: 1, answers: false }]);
  expect(limiter.nextRestEndInMs(1_250)).toBe(Infinity);
});

test('all hosts that do not answer share at most half of all tries', () => {
  const limiter = new HostLimiter({ maxTries: 8, maxTriesOfHost: 4 });
  limiter.begin('good', 'key')(true);
  for (const host of ['a', 'b', 'c', 'd']) limiter.begin(host, 'key');
  expect(limiter.room()).toMatchObject({ limit: 4, limitUnproven: 0 });
  const ends = [1, 2, 3, 4].map(() => limiter.begin('good', 'key'));
  expect(limiter.room().limit).toBe(0);
  for (const end of ends) end(true);
  expect(limiter.room()).toMatchObject({ limit: 4, limitUnproven: 0 });
});

test('a try without evidence about its host changes nothing', () => {
  const limiter = new HostLimiter({ maxTries: 8, maxTriesOfHost: 4 });
  limiter.begin('a', 'key')(true);
  limiter.begin('a', 'key')(undefined);
  expect(limiter.room().hosts).toEqual([{ host: 'a', room: 4, answers: true }]);
});

test('no more hosts are remembered than a claim can carry', () => {
  const limiter = new HostLimiter({ maxTries: 8, maxTriesOfHost: 4 });
  for (let i = 0; i < 3_000; i++) limiter.begin(`host ${i}`, 'key')(true);
  expect(limiter.room().hosts).toHaveLength(1_000);
});

test('the running tries and the last turn of each key are known', () => {
  const limiter = new HostLimiter({ maxTries: 8, maxTriesOfHost: 4 });
  limiter.begin('good', 'a')(true);
  limiter.begin('good', 'a');
  const end = limiter.begin('new', 'b');
  limiter.begin('new', 'a');
  expect(limiter.room().keys).toEqual([
    { keyId: 'b', running: 1, runningUnproven: 1, turn: 3 },
    { keyId: 'a', running: 2, runningUnproven: 1, turn: 4 },
  ]);
  end(false);
  expect(limiter.room().keys[0]).toMatchObject({ running: 0, runningUnproven: 0 });
});

test('no more keys are remembered than a claim can carry', () => {
  const limiter = new HostLimiter({ maxTries: 8, maxTriesOfHost: 4 });
  for (let i = 0; i < 3_000; i++) limiter.begin('host', `key ${i}`)(true);
  expect(limiter.room().keys).toHaveLength(1_000);
});
