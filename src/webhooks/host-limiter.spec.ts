import { HostLanes } from './host-lanes.js';

const roomAt = (lanes: HostLanes, host: string): number | undefined =>
  lanes.room().hosts.find((one) => one.host === host)?.room;

test('a host that answers gets more tries at once, up to its share', () => {
  const lanes = new HostLanes({ maxTries: 64, maxTriesOfHost: 16 });
  const rooms = [1, 2, 3, 4].map(() => {
    lanes.begin('a')(true);
    return roomAt(lanes, 'a');
  });
  expect(rooms).toEqual([4, 8, 16, 16]);
});

test('a host that does not answer gets one, until it answers', () => {
  const lanes = new HostLanes({ maxTries: 64, maxTriesOfHost: 16 });
  lanes.begin('a')(true);
  lanes.begin('a')(false, 0);
  expect(roomAt(lanes, 'a')).toBe(1);
  const end = lanes.begin('a');
  expect(roomAt(lanes, 'a')).toBe(0);
  end(true);
  expect(roomAt(lanes, 'a')).toBe(2);
});

test('a host that does not answer rests between its tries, longer each time', () => {
  const lanes = new HostLanes({ maxTries: 64, maxTriesOfHost: 16 });
  const rests = [1, 2, 3, 4, 5, 6, 7].map(() => {
    lanes.begin('a')(false, 1_000);
    expect(lanes.room(1_009).hosts).toEqual([{ host: 'a', room: 0, answers: false }]);
    return lanes.nextRestEndInMs(1_000);
  });
  expect(rests).toEqual([10, 20, 40, 80, 160, 250, 250]);
  expect(lanes.room(1_250).hosts).toEqual([{ host: 'a', room: 1, answers: false }]);
  expect(lanes.nextRestEndInMs(1_250)).toBe(Infinity);
});

test('all hosts that do not answer have half of all tries', () => {
  const lanes = new HostLanes({ maxTries: 8, maxTriesOfHost: 4 });
  lanes.begin('good')(true);
  for (const host of ['a', 'b', 'c', 'd']) lanes.begin(host);
  expect(lanes.room()).toMatchObject({ limit: 4, limitUnproven: 0 });
  const ends = [1, 2, 3, 4].map(() => lanes.begin('good'));
  expect(lanes.room().limit).toBe(0);
  for (const end of ends) end(true);
  expect(lanes.room()).toMatchObject({ limit: 4, limitUnproven: 0 });
});

test('a try that says nothing about its host changes nothing', () => {
  const lanes = new HostLanes({ maxTries: 8, maxTriesOfHost: 4 });
  lanes.begin('a')(true);
  lanes.begin('a')(undefined);
  expect(lanes.room().hosts).toEqual([{ host: 'a', room: 4, answers: true }]);
});

test('no more hosts are remembered than a claim can carry', () => {
  const lanes = new HostLanes({ maxTries: 8, maxTriesOfHost: 4 });
  for (let i = 0; i < 3_000; i++) lanes.begin(`host ${i}`)(true);
  expect(lanes.room().hosts).toHaveLength(1_000);
});
