import { ConfigError } from '../config/config.js';

export interface Fault {
  /** From 1; undefined: the file as a whole. */
  line: number | undefined;
  message: string;
}

/** Names every fault of the models file with its line, so that one restart is enough to mend them. */
export class ModelsFileError extends ConfigError {
  override name = 'ModelsFileError';

  constructor(
    file: string,
    readonly faults: readonly Fault[],
  ) {
    super(
      [...faults]
        .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
        .map(({ line, message }) => `${file}${line === undefined ? '' : ` line ${line}`}: ${message}`)
        .join('\n'),
    );
  }
}
