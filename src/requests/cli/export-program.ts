import type { Command } from 'commander';
import { commandOf, usageOf } from '../../config/package.js';
import { programOf } from '../../config/program.js';
import { valueOf, toTime } from '../../auth/cli/option-values.js';
import { modelRule } from '../../auth/key-rules.js';
import { time } from '../../tools/rules.js';

/** What `npm run export` was asked for. Times are milliseconds since 1970. */
export interface ExportCall {
  since?: number;
  until?: number;
  /** The id, prefix or name of keys. */
  key?: string;
  model?: string;
}

/** The command line of `npm run export`. */
export function exportProgram(run: (call: ExportCall) => Promise<void>): Command {
  return programOf(
    'export',
    'Prints requests with their payloads, one JSON object a line, the oldest first.',
    `
The requests are in the database that DATABASE_URL names, or else in the embedded one in DATA_DIR (.data).
The command works whether or not the service is running. It is audited as payload.read.

Examples:
  ${commandOf('export', '', { isPiped: true })} > requests.ndjson
  ${usageOf('export', { isPiped: true })} --since 2026-03-01 --until 2026-04-01 --model 'acme/*' | gzip > march.ndjson.gz`,
    { isPiped: true },
  )
    .option(
      '--since <time>',
      'only those submitted at this time or later, such as 2026-03-01',
      valueOf(time, toTime),
    )
    .option('--until <time>', 'only those submitted before this time (default: now)', valueOf(time, toTime))
    .option('-k, --key <key>', 'only those of this key, by its id, prefix or name; revoked ones too')
    .option('-m, --model <id>', 'only those of this model, or acme/* for all under acme', valueOf(modelRule))
    .action(run);
}
