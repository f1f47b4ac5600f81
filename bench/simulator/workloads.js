const hour = 3_600_000;

/** Submits again and again, after pauses of `everyMs(now)`. */
function arriving({ fleet, random }, everyMs, request) {
  const next = () => {
    fleet.agenda.in(random.exponential(everyMs(fleet.agenda.now)), () => {
      fleet.submit(request(fleet.agenda.now));
      next();
    });
  };
  next();
}

/** Keys that always have `depth` requests waiting. */
function alwaysBusy({ fleet }, keys, depth, request) {
  const again = new Map();
  for (let key = 1; key <= keys; key++) {
    fleet.submit({ ...request(key), key, count: depth });
    again.set(key, () => fleet.submit({ ...request(key), key }));
  }
  fleet.whenStarted.push(({ key }) => again.get(key)?.());
}

const someKey = (random, count) => 1 + random.below(count);

/** Workloads of an hour: slots, run times and senders. `every`: one of this many requests is judged. */
export const workloads = {
  steady: {
    slots: 8,
    play(world) {
      const runMs = () => world.random.logNormal(4_000, 0.5);
      alwaysBusy(world, 20, 10, () => ({ runMs }));
    },
  },
  'runs of one length': {
    slots: 4,
    play(world) {
      const { random } = world;
      const everyMs = () => 55_000;
      arriving(world, everyMs, () => ({
        key: someKey(random, 30),
        runMs: () => 10_000,
        count: 1 + random.below(40),
      }));
    },
  },
  bursty: {
    slots: 8,
    play(world) {
      const { random } = world;
      const runMs = () => random.logNormal(3_000, 0.7);
      arriving(
        world,
        () => 12_000,
        () => ({ key: someKey(random, 50), runMs, count: random.heavyTailed(500, 0.9) }),
      );
    },
  },
  'two kinds of runs': {
    slots: 8,
    play(world) {
      const { random } = world;
      const runMs = () => (random.next() < 0.8 ? random.between(500, 1_500) : random.between(15_000, 25_000));
      alwaysBusy(world, 15, 10, () => ({ runMs }));
    },
  },
  'heavy-tailed runs': {
    slots: 16,
    play(world) {
      const runMs = () => world.random.logNormal(5_000, 1.3);
      alwaysBusy(world, 30, 10, () => ({ runMs }));
    },
  },
  'growing load': {
    slots: 8,
    play(world) {
      const { random } = world;
      const runMs = () => random.logNormal(4_000, 0.5);
      const everyMs = (now) => 500 / (0.5 + (1.5 * now) / hour);
      arriving(world, everyMs, () => ({ key: someKey(random, 40), runMs }));
    },
  },
  'runs that get longer': {
    slots: 8,
    play(world) {
      const { random, fleet } = world;
      const runMs = () => random.logNormal(3_000 * (1 + (2 * fleet.agenda.now) / hour), 0.4);
      alwaysBusy(world, 15, 8, () => ({ runMs }));
    },
  },
  'an outage': {
    slots: 8,
    play(world) {
      const { random, fleet } = world;
      const runMs = () => random.logNormal(4_000, 0.5);
      alwaysBusy(world, 20, 8, () => ({ runMs }));
      fleet.agenda.in(hour / 2, () => fleet.lose());
      fleet.agenda.in(hour / 2 + 120_000, () => fleet.find());
    },
  },
  'a batch that is cancelled': {
    slots: 8,
    play(world) {
      const { random, fleet } = world;
      const runMs = () => random.logNormal(4_000, 0.5);
      alwaysBusy(world, 6, 15, () => ({ runMs }));
      const written = (requests) => fleet.agenda.in(hour / 4, () => fleet.cancel(requests));
      fleet.agenda.in(hour / 4, () => fleet.submit({ key: 100, runMs, count: 2_000, written }));
    },
  },
  'newcomers before a batch': {
    slots: 8,
    every: 12,
    play(world) {
      const { random, fleet } = world;
      const runMs = () => random.logNormal(4_000, 0.5);
      fleet.agenda.in(60_000, () => fleet.submit({ key: 1, runMs, count: 3_000 }));
      arriving(
        world,
        () => 1_000,
        () => ({ key: 2 + random.below(5_000), runMs }),
      );
    },
  },
  'high priority before normal': {
    slots: 8,
    play(world) {
      const { random } = world;
      const runMs = () => random.logNormal(4_000, 0.5);
      alwaysBusy(world, 10, 10, () => ({ runMs }));
      arriving(
        world,
        () => 1_500,
        () => ({ key: 1_000 + random.below(100), runMs, priority: -1 }),
      );
    },
  },
};
