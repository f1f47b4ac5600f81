import { scene as apiToScheduler } from './between-processes.js';
import { scene as claim } from './claim.js';
import { scene as latency } from './idle-latency.js';
import { scene as life } from './life.js';
import { scene as status } from './status.js';
import { scene as submit } from './submit.js';

export const scenes = [submit, status, claim, life, latency, apiToScheduler];
