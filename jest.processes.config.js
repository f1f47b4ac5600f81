import config from './jest.config.js';

/** What `npm test` leaves out. */
export default {
  ...config,
  testMatch: ['<rootDir>/test/processes/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
