import config from './jest.config.js';

/** What `npm test` leaves out. */
export default {
  ...config,
  testMatch: [
    '<rootDir>/test/browser/*.test.ts',
    '<rootDir>/test/cluster-processes.test.ts',
    '<rootDir>/test/keys.test.ts',
    '<rootDir>/test/process-*.test.ts',
    '<rootDir>/test/workshop-start.test.ts',
  ],
  testPathIgnorePatterns: ['/node_modules/'],
};
