/** The shapes of /v1/admin that the console reads. */
export type Scope = 'submit' | 'read' | 'cancel' | 'observe' | 'payloads' | 'admin';

export interface Page<T> {
  data: T[];
  next_cursor: string | null;
  /** Of lists that count; not exact above 10,000. */
  count?: { value: number; is_exact: boolean };
}

export interface SignedIn {
  key_id: string;
  name: string;
  scopes: Scope[];
  session_id: string | null;
  expires_at: string | null;
}

export interface Session {
  signed_in: SignedIn | null;
  /** How people may sign in besides with a key. */
  oidc: { name: string; url: string } | null;
}

export interface KeyName {
  id: string;
  /** null or empty: it was removed. */
  name: string | null;
}

export interface Override<T> {
  current: T;
  base: T;
  override: T | null;
  overridden_at: string | null;
  overridden_by: string | null;
}

export interface Mark {
  request_id: string;
  key_id: string;
  since: string;
}

export interface KeyWaiting {
  key_id: string;
  name: string;
  waiting: number;
  running: number;
}

export interface MinuteCounts {
  minute: string;
  started: number;
  completed: number;
  failed: number;
}

/** Seconds. */
export interface TypicalTime {
  p50: number;
  p95: number;
}

export type Paused = false | 'hold' | 'reject';
export type Circuit = 'closed' | 'open' | 'probing';

export interface AdminModel {
  id: string;
  description?: string;
  kind: string;
  order: string;
  concurrency: Override<number>;
  paused: Override<Paused>;
  waiting: number;
  delayed: number;
  held: number;
  running: number;
  slots: number;
  oldest_waiting_at: string | null;
  started_today: number;
  started_per_second: number;
  completed_last_hour: number;
  failed_last_hour: number;
  availability: 'available' | 'paused' | 'unavailable';
  unavailable_since: string | null;
  unavailable_reason: string | null;
  nodes: { name: string; slots: number; running: number; circuit: Circuit }[];
  history: MinuteCounts[];
  /** The queue in its order, at most 120 marks that stand for `per_mark` requests each. */
  queue?: { per_mark: number; marks: Mark[] };
  waiting_by_key?: KeyWaiting[];
  run_time?: TypicalTime | null;
  queue_time?: TypicalTime | null;
}

export interface Overview {
  at: string;
  models: AdminModel[];
  nodes: { id: string; name: string; state: NodeState }[];
}

export type RequestState = 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED';
export type Outcome = 'succeeded' | 'failed' | 'cancelled' | 'expired';
export type AttemptOutcome =
  'succeeded' | 'failed' | 'timed_out' | 'cancelled' | 'returned' | 'lost' | 'unreached';

export interface RequestError {
  code: string;
  message: string;
  timestamp: string;
  details?: unknown;
}

export interface LogEntry {
  id?: string | number;
  timestamp: string;
  level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  source: string;
  message: string;
  attempt?: number;
}

export interface AdminRequest {
  /** The id, or for those who may not see it a handle. */
  request_id: string;
  model_id: string;
  key: KeyName;
  status: RequestState;
  outcome: Outcome | null;
  reason?: 'busy' | 'unavailable' | 'paused' | 'scheduled' | 'retrying' | 'held';
  queue_position?: number;
  error?: RequestError | null;
  node?: string | null;
  priority?: 'high' | 'normal' | 'low';
  attempt: number;
  tags: string[];
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  scheduled_at?: string;
  estimated_start?: { from: string; to: string };
  estimated_end?: { from: string; to: string };
  retry_of?: string;
  retried_as?: string;
  erased_at?: string;
  success?: boolean;
  metrics: { queue_time?: number; inference_time?: number | null };
  input_bytes?: number | null;
  output_bytes?: number | null;
  output_type?: string | null;
  logs?: LogEntry[];
}

export interface RequestEvent {
  id: number | string;
  at: string;
  kind: 'submitted' | 'started' | 'requeued' | 'cancel_requested' | 'completed';
  attempt: number;
  node: string | null;
  /** How the run ended that this event ends. */
  outcome: AttemptOutcome | Outcome | null;
  code: string | null;
  message: string | null;
  /** When the pause that begins here is over. */
  until?: string | null;
  /** When the run ended: before `at`, where its node was lost. */
  ended_at?: string | null;
}

export interface RequestHistory {
  data: RequestEvent[];
  positions?: { at: string; position: number }[];
}

export interface QueueEntry {
  request_id: string;
  position: number | null;
  state: 'running' | 'waiting' | 'held' | 'delayed';
  key: KeyName;
  priority: string;
  since: string;
  started_at?: string | null;
  node?: string | null;
  not_before?: string | null;
  attempt: number;
}

export interface Share {
  key: KeyName;
  weight: number;
  max_running: number | null;
  waiting: number;
  held: number;
  running: number;
  share_now: number | null;
  starts_last_hour: number;
  run_seconds_last_hour: number;
  share_last_hour: number | null;
}

export interface RequestFilter {
  model_id?: string;
  status?: string;
  outcome?: string;
  key_id?: string;
  tag?: string[];
  code?: string;
  node?: string;
  created_after?: string;
  created_before?: string;
  id_prefix?: string;
  ids?: string[];
}

export type Action = 'cancel' | 'retry' | 'erase';

export interface OperationPreview {
  count: { value: number; is_exact: boolean };
  sample: AdminRequest[];
}

export interface Operation {
  id: string;
  action: Action;
  filter: RequestFilter;
  state: 'collecting' | 'running' | 'stopping' | 'stopped' | 'done';
  total: number;
  done: number;
  skipped: number;
  failed: number;
  created_at: string;
  ended_at: string | null;
  by?: string | null;
}

export interface LimitLeft {
  limit: number;
  window_s: number;
  remaining: number;
}

export interface AdminKey {
  id: string;
  name: string;
  prefix: string;
  scopes: Scope[];
  models: string[] | null;
  limits: { submit?: string | null; other?: string | null };
  /** What is left of those that hold. */
  quota: { submit: LimitLeft[]; other: LimitLeft[] };
  max_priority: string | null;
  max_waiting: number | null;
  max_running: number | null;
  weight: number;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  subject: string | null;
  state: 'valid' | 'revoked' | 'expired';
  waiting: number;
  running: number;
  requests_today: number;
}

export type NewKey = AdminKey & { key: string };

/** What is left out stays; null takes back what was set. */
export type KeyBody = Partial<
  Pick<
    AdminKey,
    'name' | 'scopes' | 'models' | 'limits' | 'max_priority' | 'max_waiting' | 'max_running' | 'weight'
  > & {
    expires: string | null;
  }
>;

export type NodeState = 'ready' | 'draining' | 'fenced' | 'lost';

export interface AdminNode {
  id: string;
  name: string;
  version: string;
  role: string;
  state: NodeState;
  started_at: string;
  heartbeat_at: string;
  draining_since: string | null;
  running: number;
  slots: number;
  models: {
    model_id: string;
    slots: number;
    running: number;
    circuit: Circuit;
    resting_until: string | null;
    reason: string | null;
  }[];
}

export interface DeliveryTry {
  at: string;
  status: number | null;
  duration_ms: number;
  body: string | null;
  error: string | null;
}

export interface Delivery {
  id: string;
  url: string;
  state: 'pending' | 'delivered' | 'failed' | 'ended';
  tries: DeliveryTry[];
  request_id?: string;
  key?: KeyName;
  next_try_at?: string | null;
  created_at?: string;
}

/** Where webhooks go: an endpoint of a key, or a host of URLs that requests named. */
export interface Receiver {
  /** null: such a host. */
  id: string | null;
  url: string | null;
  host: string;
  key: KeyName | null;
  disabled_at: string | null;
  pending: number;
  is_pending_exact: boolean;
  delivered_last_day: number;
  failed_last_day: number;
  failed_tries_last_day: number;
  last_status: number | null;
  last_error: string | null;
  last_at: string | null;
  next_try_at: string | null;
}

export interface AdminSession {
  id: string;
  name: string | null;
  key_id: string;
  created_at: string;
  expires_at: string;
  address: string | null;
  user_agent: string | null;
  is_current: boolean;
}

export interface AuditEntry {
  id: string;
  at: string;
  actor: {
    key_id: string | null;
    name: string;
    session_id: string | null;
    address: string | null;
    user_agent: string | null;
  };
  http_request_id: string | null;
  action: string;
  target: string | null;
  before: unknown;
  after: unknown;
  reason: string | null;
}

/** Of /v1/models: what a form is made from. */
export interface ModelView {
  id: string;
  description: string;
  input_schema: JsonSchema | null;
  availability: string;
}

export interface JsonSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  required?: string[];
  properties?: Record<string, JsonSchema>;
}
