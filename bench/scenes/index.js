import { scene as attacks } from './attacks.js';
import { scene as balanced } from './balanced.js';
import { scene as batch } from './batch.js';
import { scene as batches } from './batches.js';
import { scene as boundedKey } from './bounded-key.js';
import { scene as apiToScheduler } from './between-processes.js';
import { scene as claim } from './claim.js';
import { scene as consoles } from './consoles.js';
import { scene as days } from './days.js';
import { scene as deltas } from './deltas.js';
import { scene as files } from './files.js';
import { scene as firstCalls } from './first-calls.js';
import { scene as heldCalls } from './held-calls.js';
import { scene as history } from './history.js';
import { scene as latency } from './idle-latency.js';
import { scene as jobs } from './jobs.js';
import { scene as jobsWebhook } from './jobs-webhook.js';
import { scene as list } from './list.js';
import { scene as metrics } from './metrics.js';
import { scene as modelAtLimit } from './model-at-limit.js';
import { scene as nothingToDo } from './nothing-to-do.js';
import { scene as notifications } from './notifications.js';
import { scene as oldSnapshot } from './old-snapshot.js';
import { scene as order } from './order.js';
import { scene as presetStreams } from './preset-streams.js';
import { scene as soak } from './soak.js';
import { scene as status } from './status.js';
import { scene as statusShipped } from './status-shipped.js';
import { scene as streams } from './streams.js';
import { scene as submit } from './submit.js';
import { scene as submitLarge } from './submit-large.js';
import { scene as submitOnce } from './submit-once.js';
import { scene as submitShipped } from './submit-shipped.js';
import { scene as submitWebhook } from './submit-webhook.js';
import { scene as twoProcesses } from './two-processes.js';
import { scene as wal } from './wal.js';
import { scene as webhookNeighbours } from './webhook-neighbours.js';
import { scene as workers } from './workers.js';

export const scenes = [
  submit,
  submitLarge,
  status,
  claim,
  modelAtLimit,
  jobs,
  latency,
  apiToScheduler,
  oldSnapshot,
  streams,
  notifications,
  nothingToDo,
  wal,
  soak,
  history,
  twoProcesses,
  submitShipped,
  statusShipped,
  firstCalls,
  balanced,
  heldCalls,
  submitWebhook,
  jobsWebhook,
  batch,
  list,
  webhookNeighbours,
  boundedKey,
  order,
  metrics,
  deltas,
  workers,
  files,
  consoles,
  submitOnce,
  attacks,
  days,
  presetStreams,
  batches,
];
