import type { components } from './wire';

/** The shapes of the service that the views read, by the names that they have there. */
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
export type RequestFilter = Schemas['AnyRequestFilter'];
export type RequestHistory = Schemas['Life'];
export type RequestEvent = Schemas['LifeEvent'];
export type LogEntry = Schemas['LogEntry'] & Partial<Schemas['AnyLogEntry']>;
/** Of the stream of a request: its status, and the lines that are new. */
export type StreamedStatus = Partial<AdminRequest> & { logs?: Schemas['LogEntry'][] };
export type AuditAction = Schemas['AuditEntry']['action'];
export type Reason = Schemas['Reason'];
export type Operation = Schemas['Operation'];
export type OperationPreview = Schemas['OperationPreview'];
export type Action = Operation['action'];

export type AdminKey = Schemas['AdminKey'];
export type NewKey = Schemas['MadeKey'];
export type KeyBody = Schemas['KeyChanges'];
export type LimitLeft = Schemas['KeyLimit'];
export type AdminSession = Schemas['AdminSession'];
export type AuditEntry = Schemas['AuditEntry'];

export type Delivery = Schemas['AnyDelivery'];
export type Receiver = Schemas['Receiver'];

/** Of /v1/models: what a form is made from. */
export type ModelView = Schemas['Model'];

/** What a form can be made from, of the schemas that a models file may have. */
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
