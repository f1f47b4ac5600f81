import type { Run } from '../types.js';

/** Variables that a program needs to find its way on the machine. None holds secrets. */
const passed = 'PATH HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE TZ TMPDIR SYSTEMROOT'.split(' ');
const never = 'NOWSERVING_KEY';

/**
 * Returns the environment of a command: the listed variables of our own environment, and those that describe the run.
 */
export function environmentOf(
  own: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
  run: Pick<Run, 'requestId' | 'attempt' | 'model' | 'deadline' | 'traceparent'>,
  outputFolder: string,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of [...passed, ...names]) {
    const value = own[name];
    if (value !== undefined && name !== never) environment[name] = value;
  }
  return {
    ...environment,
    NS_REQUEST_ID: run.requestId,
    NS_ATTEMPT: String(run.attempt),
    NS_MODEL: run.model,
    NS_OUTPUT_DIR: outputFolder,
    ...(run.deadline && { NS_DEADLINE: run.deadline.toISOString() }),
    ...(run.traceparent !== undefined && { TRACEPARENT: run.traceparent }),
  };
}

/** Returns why a name cannot be passed on. undefined: it can. */
export function nameFault(name: string): string | undefined {
  if (name === never) return 'The key of the worker is never passed to a command.';
  return /^[A-Za-z_]\w*$/.test(name) ? undefined : `"${name}" is not the name of an environment variable.`;
}
