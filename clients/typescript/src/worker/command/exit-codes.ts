import { Fail, HandBack, Retry } from '../failures.js';

export interface Exit {
  code: number | null;
  signal: string | null;
}

/** By sysexits.h, the usage, the data or the input is wrong. It would be wrong for any worker. */
const finalCodes = new Set([64, 65, 66]);
/** Not executable, not found, or badly configured: no request would succeed on this machine. */
const unfitCodes = new Set([126, 127, 78]);

/** Returns what the end of a command means for the run. `said`: the error that the command has printed. */
export function errorOf({ code, signal }: Exit, said?: Error): Error | undefined {
  if (code === 0) return said;
  if (code === null) return said ?? new Retry({ message: `The command was ended by ${signal}.` });
  if (unfitCodes.has(code)) {
    return new HandBack(`The command cannot run here: it ended with exit code ${code}. The worker stops.`);
  }
  const message = said?.message ?? `The command ended with exit code ${code}.`;
  return finalCodes.has(code) ? new Fail(message) : (said ?? new Retry({ message }));
}

/** Returns the error for a command that could not be started. */
export function startError(error: NodeJS.ErrnoException): Error {
  const unfit: Record<string, string> = {
    ENOENT: 'does not exist',
    EACCES: 'may not be executed',
    ENOEXEC: 'is not a program',
  };
  const why = unfit[error.code ?? ''];
  if (why === undefined) return new Retry({ message: 'The command could not be started.' });
  return new HandBack(`The command ${why}. The worker stops.`);
}
