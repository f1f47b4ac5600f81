/**
 * The tests run in Node itself (jest-light-runner), not in a sandbox for each file, which would load the whole service
 * anew for each: files that run in one process share its modules. What a test changes, it puts back.
 */
export default {
  runner: '<rootDir>/test/support/runner.js',
  testMatch: [
    '<rootDir>/src/**/*.spec.ts',
    '<rootDir>/console/src/**/*.spec.ts',
    '<rootDir>/test/**/*.test.ts',
  ],
  // Real processes and a browser take their time: `npm run test:processes` (jest.processes.config.js).
  testPathIgnorePatterns: ['/node_modules/', '/test/processes/'],
  modulePathIgnorePatterns: [
    '<rootDir>/dist/',
    '<rootDir>/clients/typescript/dist/',
    '<rootDir>/bench/peers/',
  ],
  transform: {},
  globalSetup: '<rootDir>/test/support/global-setup.js',
  globalTeardown: '<rootDir>/test/support/global-teardown.js',
  setupFilesAfterEnv: ['<rootDir>/test/support/runner-setup.js'],
  // Twice as many as a small machine has cores, because tests wait longer than they compute.
  maxWorkers: 4,
  testTimeout: 30_000,
};
