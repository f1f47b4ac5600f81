import { Injectable, Logger } from '@nestjs/common';
import { Handles } from '../auth/handles.js';
import { KeysService } from '../auth/keys.service.js';
import type { Queries } from '../database/statement.js';
import { isDatabaseUnavailable } from '../errors/database-error.js';
import { DomainError } from '../errors/domain-error.js';
import { Cancels } from '../queue/completion/cancels.js';
import { Erasures } from '../queue/retention/erasures.js';
import { QueueService } from '../queue/queue.service.js';
import type { RequestState } from '../queue/request-state.js';
import { fingerprintOf } from '../requests/request-handlers.js';
import { Retries } from '../requests/retries.js';
import type { OperationAction } from './entities/operation.entity.js';
import type { Counts } from './queries/steps.js';

export interface Dealt extends Counts {
  ids: string[];
  lastError?: string | null;
  /** Called after the commit. */
  publish?: () => void;
}

/**
 * After this long, a step starts no further retry. Retries run one by one, on other connections than the step's
 * transaction.
 */
const longestStepMs = 2_000;

/** Applies the action of an operation to some of its members. */
@Injectable()
export class OperationActions {
  private readonly log = new Logger(OperationActions.name);

  constructor(
    private readonly cancels: Cancels,
    private readonly erasures: Erasures,
    private readonly queue: QueueService,
    private readonly keys: KeysService,
    private readonly retries: Retries,
    private readonly handles: Handles,
  ) {}

  /**
   * Runs in the transaction that counts the members. A member that moved in the meantime stays for a later step. A
   * member that has left `state`, the state that the filter asked for, is skipped. null: the filter asked for none.
   */
  async cancel(queries: Queries, members: readonly string[], state: RequestState | null): Promise<Dealt> {
    const meant = { state: state ?? undefined };
    const { cancelled, requested, moved, publish } = await this.cancels.among(queries, meant, members);
    const done = cancelled + requested;
    const left = new Set(moved);
    const ids = members.filter((id) => !left.has(id));
    return { ids, done, skipped: ids.length - done, failed: 0, publish };
  }

  async erase(queries: Queries, members: readonly string[]): Promise<Dealt> {
    let done = 0;
    for (const id of members) if (await this.erasures.among(queries, id)) done++;
    return { ids: [...members], done, skipped: members.length - done, failed: 0 };
  }

  /**
   * Runs on behalf of the members' keys, before the step is counted. Each retry has an idempotency key of the
   * operation, so one made before a crash is found and not repeated. Members for which the transaction would be idle
   * too long stay for a later step.
   */
  async retry(operationId: string, members: readonly string[]): Promise<Dealt> {
    const dealt: Dealt = { ids: [], done: 0, skipped: 0, failed: 0 };
    const until = performance.now() + longestStepMs;
    for (const id of members) {
      if (dealt.ids.length > 0 && performance.now() >= until) break;
      dealt.ids.push(id);
      const row = await this.queue.status(id);
      const owner = row?.state === 'COMPLETED' ? await this.keys.callerOf(row.keyId) : undefined;
      if (row === undefined || owner === undefined) {
        dealt.skipped++;
        continue;
      }
      try {
        const idempotency = {
          key: `operation/${operationId}/${id}`,
          fingerprint: fingerprintOf(`operations/${operationId}`, id, {}),
        };
        const accepted = await this.retries.submit(owner, row, { idempotency });
        if (accepted === undefined) dealt.skipped++;
        else dealt.done++;
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        dealt.failed++;
        dealt.lastError = this.reasonOf('retry', id, error);
      }
    }
    return dealt;
  }

  /** Returns why a member failed, for operators. Errors other than refusals are logged. */
  reasonOf(action: OperationAction, member: string, error: unknown): string {
    if (error instanceof DomainError) return error.message;
    const { code = '', stack } = error as Error & { code?: string };
    // Without the details of a database error, because they may contain the row.
    this.log.error(`the ${action} of ${this.handles.handleOf(member)} failed: ${stack ?? String(error)}`);
    return /^[0-9A-Z]{5}$/.test(code)
      ? `The database refused the change (SQLSTATE ${code}).`
      : 'It failed inside the service. The log of the node has the reason.';
  }
}
