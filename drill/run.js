import { buildHarness } from '../scripts/harness.js';

/** `npm run drill -- failover --rounds 1`: builds the service and the drill, then runs the drill. */
buildHarness('drill');
await import('../dist/drill/main.js');
