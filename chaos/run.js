import { buildHarness } from '../scripts/harness.js';

/** `npm run chaos -- --seconds 60 --seed 7`: builds the service and the harness, then runs the harness. */
buildHarness('chaos');
await import('../dist/chaos/main.js');
