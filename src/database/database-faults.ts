import { Logger } from '@nestjs/common';
import { databaseError, type DatabaseFault, DatabaseUnavailable } from '../errors/database-error.js';
import { RepeatedLines } from '../tools/repeated-lines.js';

/** Faults that only an operator can fix. Other faults are temporary, or the duties that wait for them log them. */
const lines: Partial<Readonly<Record<DatabaseFault, string>>> = {
  disk_full: "the database's disk is full: it refuses writes",
  disk_error: 'the database cannot read or write its disk',
  no_memory: 'the database has no memory left',
  too_many_connections: 'the database accepts no more connections (max_connections)',
  no_resources: 'the database is at a limit of its machine',
  no_descriptors: 'this node is at its limit of open files (ulimit -n): it cannot connect to the database',
  read_only: 'the database is read-only',
};

/** Maps errors of this process's statements and connections to the service's own, and logs them once a minute. */
export class DatabaseFaults {
  private readonly log = new Logger('Database');
  private readonly lines = new RepeatedLines();
  /** The last disk fault, until a later write is known to have succeeded. */
  lastDiskFault: { error: DatabaseUnavailable; at: number } | undefined;

  /** Returns the error to throw in place of `thrown`. */
  note(thrown: unknown): unknown {
    if (thrown instanceof DatabaseUnavailable) return thrown;
    const error = databaseError(thrown);
    if (!(error instanceof DatabaseUnavailable)) return error;
    const { fault } = error;
    if (fault === 'disk_full' || fault === 'disk_error')
      this.lastDiskFault = { error, at: performance.now() };
    const line = lines[fault];
    const said = (error.options.cause as Error | undefined)?.message;
    if (line !== undefined) this.lines.add(fault, (times) => this.log.error({ times, said }, line));
    return error;
  }

  forgetDiskFault(): void {
    this.lastDiskFault = undefined;
  }

  stop(): void {
    this.lines.flush();
  }
}
