import { Logger } from '@nestjs/common';
import { databaseError, type DatabaseFault, DatabaseUnavailable } from '../errors/database-error.js';
import { RepeatedLines } from '../tools/repeated-lines.js';

/** What only an operator can mend. The others pass, or are said by the duties that wait for them. */
const lines: Partial<Readonly<Record<DatabaseFault, string>>> = {
  disk_full: "the database's disk is full: it refuses what is to be stored",
  disk_error: 'the database cannot read or write its disk',
  no_memory: 'the database has no memory left',
  too_many_connections: 'the database takes no more connections (max_connections)',
  no_resources: 'the database is at a limit of its machine',
  no_descriptors: 'this node is at its limit of open files (ulimit -n): it cannot connect to the database',
  read_only: 'the database only reads: it takes no writes',
};

/** What statements and connections of this process fail with: made ours, and said in the log once a minute. */
export class DatabaseFaults {
  private readonly log = new Logger('Database');
  private readonly lines = new RepeatedLines();
  /** The last one, until a write is known to have been taken since. */
  lastDiskFault: { error: DatabaseUnavailable; at: number } | undefined;

  /** What `thrown` is to be thrown as. */
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
