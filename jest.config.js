/** Runs the TypeScript as ES modules; `npm test` passes Node the flag that this needs. */
export default {
  testEnvironment: 'node',
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
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^@nestjs/throttler$': '<rootDir>/test/support/throttler.mjs',
  },
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          keepClassNames: true,
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  globalSetup: '<rootDir>/test/support/global-setup.js',
  globalTeardown: '<rootDir>/test/support/global-teardown.js',
  maxWorkers: 2,
  testTimeout: 30_000,
};
