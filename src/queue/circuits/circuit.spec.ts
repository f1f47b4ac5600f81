import { Circuit, type Probe } from './circuit.js';

const times = { probeMs: 1_000, maxProbeMs: 30_000, shareMs: 120_000 };
let now = 0;
let circuit: Circuit;

beforeEach(() => {
  now = 5_000;
  circuit = new Circuit(times, () => now);
});

/** Starts the probe as soon as it may start, however long that takes. */
function probe(): { waitedMs: number; probe: Probe } {
  const from = now;
  while (circuit.room === 0) now += circuit.nextInMs!;
  return { waitedMs: now - from, probe: circuit.startProbe()! };
}

const failProbe = (retryAfterMs?: number): number => {
  const { waitedMs, probe: failing } = probe();
  circuit.fail('away', retryAfterMs, failing);
  return waitedMs;
};

it('lets everything through while it is closed', () => {
  expect([circuit.room, circuit.startProbe(), circuit.nextInMs]).toEqual([Infinity, undefined, undefined]);
});

it('opens once, however many runs find the model away', () => {
  expect([1, 2, 3].map(() => circuit.fail('away'))).toEqual([true, false, false]);
  expect(circuit.room).toBe(0);
  expect(circuit.outage).toEqual({ since: 5_000, reason: 'away' });
  expect(probe().waitedMs).toBe(1_000);
});

it('lets one probe through at a time, after 1 s and then twice as long each time, up to 30 s', () => {
  circuit.fail('away');
  expect(Array.from({ length: 8 }, () => failProbe())).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
  ]);
  probe();
  expect(circuit.room).toBe(0);
});

it('lets at most five runs through in any 30 s, including the run that opened it', () => {
  circuit.fail('away');
  const failedAt = (): number => {
    failProbe();
    return now;
  };
  const at = [now, ...Array.from({ length: 20 }, failedAt)];
  const most = Math.max(
    ...at.map((from) => at.filter((time) => time >= from && time < from + 30_000).length),
  );
  expect(most).toBeLessThanOrEqual(5);
});

it('waits as long as the model asks, if that is longer', () => {
  circuit.fail('away', 7_000);
  expect([failProbe(0), failProbe(60_000), failProbe()]).toEqual([7_000, 2_000, 60_000]);
});

it('closes when its probe reaches the model, and starts with 1 s again at the next outage', () => {
  circuit.fail('away');
  failProbe();
  expect(circuit.close(probe().probe)).toEqual({ since: 5_000, reason: 'away' });
  expect(circuit.room).toBe(Infinity);
  circuit.fail('away again');
  expect(probe().waitedMs).toBe(1_000);
});

it('ignores the end of every run except its current probe', () => {
  circuit.fail('away');
  const { probe: early } = probe();
  circuit.release(early);
  const { probe: current } = probe();
  expect(circuit.close(early)).toBeUndefined();
  expect([circuit.fail('away', 0, early), circuit.fail('away')]).toEqual([false, false]);
  expect([circuit.release(early), circuit.room]).toEqual([false, 0]);
  expect(circuit.close(current)).toBeDefined();
  expect(circuit.close(current)).toBeUndefined();
});

it('lets the next probe through at once after a probe without a result', () => {
  circuit.fail('away');
  expect(circuit.release(probe().probe)).toBe(true);
  expect(probe().waitedMs).toBe(0);
});

it('opens again when the long run that closed it as a probe fails later', () => {
  circuit.fail('away');
  const { probe: long } = probe();
  circuit.close(long);
  expect(circuit.fail('broken', 0, long)).toBe(true);
});

describe('with other nodes', () => {
  it('yields its slots while it is open, and asks for its share after two minutes without a probe', () => {
    circuit.fail('away');
    expect(circuit.yieldsSlots).toBe(true);
    now += 119_999;
    circuit.askForShare(true);
    expect(circuit.yieldsSlots).toBe(true);
    now++;
    circuit.askForShare(true);
    expect([circuit.yieldsSlots, circuit.room]).toEqual([false, 1]);
    failProbe();
    expect(circuit.yieldsSlots).toBe(true);
  });

  it('asks for no share while no other node has the model', () => {
    circuit.fail('away');
    now += 120_000;
    circuit.askForShare(false);
    expect([circuit.yieldsSlots, circuit.nextInMs]).toEqual([true, 120_000]);
  });

  it('probes when another node reaches the model, but at most five times within the longest wait', () => {
    for (const _ of Array.from({ length: 8 })) failOrOpen();
    now += 100;
    expect([circuit.hint(), circuit.nextInMs]).toEqual([true, 5_900]);
    now += 5_900;
    circuit.askForShare(true);
    expect([circuit.yieldsSlots, circuit.room]).toEqual([false, 1]);
  });

  it('ignores a hint while it is closed or probes', () => {
    expect(circuit.hint()).toBe(false);
    circuit.fail('away');
    probe();
    expect(circuit.hint()).toBe(false);
  });

  function failOrOpen(): void {
    if (circuit.outage === undefined) circuit.fail('away');
    else failProbe();
  }
});
