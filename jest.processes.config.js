import config from './jest.config.js';

// Twenty times as many as `npm test` runs.
process.env.SIMULATION_SEEDS ??= '2000';

/** What `npm test` leaves out. */
export default {
  ...config,
  testMatch: ['<rootDir>/test/processes/**/*.test.ts', '<rootDir>/test/limits/shares-simulation.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
