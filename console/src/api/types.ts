import type { components } from './wire';

/** The API shapes that the views read, under their API names. */
type Schemas = components['schemas'];

export type Session = Schemas['Session'];
export type SignedIn = Schemas['SignedIn'];
export type Scope = SignedIn['scopes'][number];

export type Overview = Schemas['Overview'];
export type OverviewChanges = Schemas['OverviewChanges'];
export type OverviewAlive = Schemas['OverviewAlive'];
export type AdminModel = Schemas['AdminModel'];
export type Mark = Schemas['QueueMark'];
export type MinuteCounts = Schemas['MinuteCounts'];
export type TypicalTime = Schemas['ModelPercentiles'];
export type ModelChange = Schemas['ModelChange'];
export type QueueEntry = Schemas['QueueEntry'];
export type Share = Schemas['Share'];
export type AdminNode = Schemas['AdminNode'];
export type AdminWorker = Schemas['AdminWorker'];

export type AdminRequest = Schemas['AnyRequest'];
export type FoundCount = Schemas['FoundCount'];
export type RequestDetails = Schemas['AnyRequestDetails'];
/** In a query tags are a list. */
export type RequestFilter = Omit<Schemas['AnyRequestFilter'], 'tag'> & { tag?: string[] };
export type RequestHistory = Schemas['Life'];
export type RequestEvent = Schemas['LifeEvent'];
export type LogEntry = Schemas['LogEntry'] & Partial<Schemas['AnyLogEntry']>;
/** A message of a request's stream: its status, and its new log lines. */
export type StreamedStatus = Partial<AdminRequest> & { logs?: Schemas['LogEntry'][] };
export type AuditAction = Schemas['AuditEntry']['action'];
export type Reason = Schemas['Reason'];
export type Operation = Schemas['Operation'];
export type OperationPreview = Schemas['OperationPreview'];
export type Action = Operation['action'];

export type AdminBatch = Schemas['AdminBatch'];

export type AdminKey = Schemas['AdminKey'];
export type NewKey = Schemas['MadeKey'];
export type KeyBody = Schemas['KeyChanges'];
export type LimitLeft = Schemas['KeyLimit'];
export type AdminSession = Schemas['AdminSession'];
export type AuditEntry = Schemas['AuditEntry'];

export type Delivery = Schemas['AnyDelivery'];
export type Receiver = Schemas['Receiver'];

/** An item of /v1/models, from which a form is made. */
export type ModelView = Schemas['Model'];

/** The parts of a JSON schema from which a form can be made. */
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
