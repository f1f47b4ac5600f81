import type { LogLevel, LogSource } from './runner.js';

/** One line of a request's log, as it is kept. */
export interface LogEntry {
  id: number;
  message: string;
  level: LogLevel;
  source: LogSource;
  at: Date;
}
