import { type Caller, hasScope, priorityOf } from '../../auth/caller.js';
import type { Handles } from '../../auth/handles.js';
import type { OperatorRow } from '../../queue/reads/operator-requests.js';
import type { Snapshot } from '../../queue/reads/status-row.js';
import type { LogEntry } from '../../queue/runs/run-log.js';
import { toStatus } from '../../requests/status-view.js';

type Status = ReturnType<typeof toStatus>;
type Shown = Omit<Partial<Status>, 'response_url' | 'status_url' | 'cancel_url'>;

export interface AdminRequestView extends Shown {
  handle: string;
  outcome: string | null;
  key: { id: string; name: string | null };
  node: string | null;
  priority: string;
  output_type?: string | null;
}

/**
 * A status for an operator. Without `payloads` it has handles in place of ids. Of what the caller and the model wrote,
 * it then has only the tags and the error's message. It never has the caller's URLs.
 */
export class AdminRequestViews {
  private readonly seesPayloads: boolean;

  constructor(
    private readonly caller: Caller,
    private readonly handles: Handles,
  ) {
    this.seesPayloads = hasScope(caller, 'payloads');
  }

  id(requestId: string): string {
    return this.handles.shown(this.caller, requestId);
  }

  status(snapshot: Snapshot, logs?: LogEntry[]): Shown {
    const { row } = snapshot;
    const {
      response_url: _r,
      status_url: _s,
      cancel_url: _c,
      ...status
    } = toStatus(snapshot, '', this.seesPayloads ? logs : undefined);
    const { error, progress } = status;
    const { details: _, ...withoutDetails } = error ?? {};
    return {
      ...status,
      request_id: this.id(row.id),
      ...(progress && !this.seesPayloads && { progress: { value: progress.value, message: null } }),
      ...(error && !this.seesPayloads && { error: withoutDetails as typeof error }),
      ...(row.retryOf !== null && { retry_of: this.id(row.retryOf) }),
      ...(row.retriedAs !== null && { retried_as: this.id(row.retriedAs) }),
    };
  }

  request(row: OperatorRow, snapshot: Snapshot): AdminRequestView {
    const status = this.status(snapshot);
    const { error } = status;
    if (error && row.runMessage !== null) error.message = row.runMessage;
    return {
      ...status,
      handle: this.handles.handleOf(row.id),
      outcome: row.outcome,
      key: { id: row.keyId, name: row.keyName },
      node: row.nodeName,
      priority: priorityOf(row.priority),
      ...(this.seesPayloads && { output_type: row.outputType }),
    };
  }
}
