import config from './jest.config.js';

// Many more than `npm test` runs.
process.env.SIMULATION_SEEDS ??= '2000';
process.env.STATE_MACHINE_SEQUENCES ??= '80';
process.env.PLANNED_DAYS ??= '400';

/** What `npm test` leaves out, and the whole of what it does a part of. */
export default {
  ...config,
  testMatch: [
    '<rootDir>/test/processes/**/*.test.ts',
    '<rootDir>/test/limits/shares-simulation.test.ts',
    '<rootDir>/test/queue/{plans,state-machine}.test.ts',
  ],
  testPathIgnorePatterns: ['/node_modules/'],
  // These tests start processes and browsers, which compute more than they wait. Where four files run on two slow cores,
  // some of their processes get no turn for seconds.
  maxWorkers: 2,
  // A test of a command starts up to ten processes, and each takes 2 to 3 s on a slow core.
  testTimeout: 180_000,
};
