import { Option } from '../../http/input/option.js';
import { oneOf, type Rule, rule, text } from '../../tools/rules.js';

const limitOf = (most: number, usual: number): Rule<number> =>
  rule({ type: 'integer', minimum: 1, maximum: most, default: usual }, (value) => {
    const limit = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : 0;
    if (limit >= 1 && limit <= most) return limit;
    throw new Error(`expected a whole number from 1 to ${most}`);
  });

const [mostFiles, usualFiles] = [10_000, 1_000];
const [mostBatches, usualBatches] = [100, 20];

/** The options of the list of files. */
export class FilesQuery {
  @Option(text, 'Only files with this purpose.', 'batch')
  purpose: string | undefined;
  @Option(text, 'The `id` of the last file of the previous page.')
  after: string | undefined;
  @Option(oneOf(['asc', 'desc'] as const), 'The order by time of creation: `desc`, newest first, or `asc`.')
  order: 'asc' | 'desc' = 'desc';
  @Option(limitOf(mostFiles, usualFiles), 'The number of files on a page.')
  limit = usualFiles;
}

/** The options of the list of batches. */
export class OwnBatchesQuery {
  @Option(text, 'The `id` of the last batch of the previous page.')
  after: string | undefined;
  @Option(limitOf(mostBatches, usualBatches), 'The number of batches on a page.')
  limit = usualBatches;
}
