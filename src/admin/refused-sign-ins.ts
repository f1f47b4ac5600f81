import { Injectable, Logger } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { AuditTrail } from '../audit/audit-trail.js';
import type { DomainError } from '../errors/domain-error.js';

/** So many of a minute are written one by one, or a stranger could fill the disk. */
const maxWritten = 60;
const minuteMs = 60_000;

/** Failed sign-ins in the audit. */
@Injectable()
export class RefusedSignIns {
  private readonly logger = new Logger(RefusedSignIns.name);
  private minute = -Infinity;
  private written = 0;
  private unwritten = 0;

  constructor(private readonly trail: AuditTrail) {}

  async note(actor: Actor, by: string, { code, message }: DomainError): Promise<void> {
    if (code === 'unavailable') return;
    const minute = Math.floor(performance.now() / minuteMs);
    if (minute !== this.minute) [this.minute, this.written] = [minute, 0];
    if (this.written === maxWritten) {
      this.unwritten++;
      return;
    }
    this.written++;
    const after = { by, code, ...(this.unwritten > 0 && { unwritten_before: this.unwritten }) };
    this.unwritten = 0;
    try {
      await this.trail.note(actor, { action: 'session.refuse', after, reason: message });
    } catch (error) {
      this.logger.warn({ err: error }, 'a refused sign-in was not audited');
    }
  }
}
