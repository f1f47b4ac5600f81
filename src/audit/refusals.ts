import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { PerMinute } from '../tools/per-minute.js';
import { type Actor, commandLine } from './actor.js';
import type { AuditAction } from './audit-actions.js';
import { type AuditNote, AuditTrail } from './audit-trail.js';

/** Refusals per minute that are written one by one: of a key or an address, and of all on this node. */
const limits = { each: 60, all: 600 };
const minuteMs = 60_000;
/** Subjects with a row of their own for the number of refusals that were left out. All others share one. */
const maxSubjects = 100;

interface LeftOut {
  actor: Actor;
  action: AuditAction;
  count: number;
}

/**
 * Writes refusals to the audit. Any caller can cause them without end, so those beyond a bound are only counted. One
 * row a minute has their number.
 */
@Injectable()
export class Refusals implements BeforeApplicationShutdown {
  /** Refusals that have no row of their own. */
  leftOut = 0;
  private readonly logger = new Logger(Refusals.name);
  private readonly written = new PerMinute(limits);
  private readonly unwritten = new Map<string, LeftOut>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly trail: AuditTrail) {}

  async note(actor: Actor, note: AuditNote): Promise<void> {
    const subject = actor.keyId === null ? `address ${actor.address ?? ''}` : `key ${actor.keyId}`;
    if (this.written.takes(subject) && (await this.write(actor, note))) return;
    this.leftOut++;
    this.leaveOut(`${note.action} ${subject}`, actor, note.action);
    this.timer ??= setTimeout(() => void this.flush(), minuteMs).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }

  /** Writes how many were left out since the last time. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const all = [...this.unwritten.values()];
    this.unwritten.clear();
    for (const { actor, action, count } of all) {
      const reason = `${count} more refusals have no entries of their own.`;
      await this.write(actor, { action, after: { left_out: count }, reason });
    }
  }

  private leaveOut(subject: string, actor: Actor, action: AuditAction): void {
    const known = this.unwritten.get(subject);
    if (known !== undefined) {
      known.count++;
      return;
    }
    const isShared = this.unwritten.size >= maxSubjects;
    if (isShared && subject !== action) return this.leaveOut(action, nobody, action);
    this.unwritten.set(subject, { actor: { ...actor, httpRequestId: null }, action, count: 1 });
  }

  private async write(actor: Actor, note: AuditNote): Promise<boolean> {
    try {
      await this.trail.note(actor, note);
      return true;
    } catch (error) {
      this.logger.warn({ err: error }, 'a refusal was not audited');
      return false;
    }
  }
}

const nobody: Actor = { ...commandLine, name: 'several' };
