import { Injectable } from '@nestjs/common';
import { Sessions } from '../../auth/sessions.js';
import { SignInLinks } from '../../auth/sign-in-links.js';
import { Database } from '../../database/database.js';
import { SelfStartingDuty } from '../../tools/duty.js';
import { pruneEntries } from '../queries/prune-entries.js';

/** Deletes old refusals, sign-ins and reads from the audit, and old sessions and links. Changes stay for good. */
@Injectable()
export class AuditPruner extends SelfStartingDuty {
  protected readonly intervalMs = 3_600_000;

  constructor(
    private readonly database: Database,
    private readonly sessions: Sessions,
    private readonly links: SignInLinks,
  ) {
    super();
  }

  async runOnce(): Promise<void> {
    await pruneEntries(this.database);
    await this.sessions.prune();
    await this.links.prune();
  }
}
