import { status, submit } from './bare-store.js';
import { listen } from './express-app.js';

/** The floor. */
listen({ submit, status });
