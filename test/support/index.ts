export * from './spawn-service.js';
export * from './test-database.js';
export * from './test-service.js';
export * from './until.js';
