import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildIfStale } from '../../scripts/build.js';
import { spawnListening } from './child.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const models = fileURLToPath(new URL('../models.yaml', import.meta.url));

const both = (limits) => ({ RATE_LIMIT_SUBMIT: limits, RATE_LIMIT_OTHER: limits, RATE_LIMIT_BATCH: limits });
/** `high` is above what any scene reaches, while the accounting itself stays on: a scene's client stands for many. */
const high = { ...both('1000000/s,60000000/m'), MAX_CALLER_STREAMS: '20000' };
const limitsOf = { high, off: both('off'), shipped: {} };

export const apiKey = 'bench-key-0123456789abcdef';
export const keyHeader = { Authorization: `Key ${apiKey}` };

/** The service as it was built at the start. A build during the run does not change the measured code. */
export class BuiltService {
  /** @param {string} directory */
  constructor(directory) {
    buildIfStale();
    this.directory = join(directory, 'service');
    cpSync(join(root, 'dist'), join(this.directory, 'dist'), { recursive: true });
    cpSync(join(root, 'package.json'), join(this.directory, 'package.json'));
    cpSync(join(root, 'assets'), join(this.directory, 'assets'), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.directory, 'node_modules'));
    this.starts = 0;
  }

  /**
   * A module of the service.
   * @param {string} path below src, with `.js`
   */
  load(path) {
    return import(pathToFileURL(join(this.directory, 'dist/src', path)).href);
  }

  /**
   * One process of the service as shipped: keys, limits, validation and logs are on.
   * @param {object} options
   * @param {string} options.databaseUrl
   * @param {'all' | 'api' | 'scheduler'} [options.role]
   * @param {'high' | 'shipped' | 'off'} [options.limits]
   * @param {string[]} [options.nodeArgs]
   * @param {Record<string, string>} [options.env]
   */
  spawn({ databaseUrl, role = 'all', limits = 'high', nodeArgs = [], env = {} }) {
    return spawnListening({
      args: [...nodeArgs, join(this.directory, 'dist/src/main.js')],
      cwd: this.directory,
      log: join(this.directory, `process-${this.starts++}.log`),
      env: {
        PORT: '0',
        ROLE: role,
        DATABASE_URL: databaseUrl,
        MODELS_FILE: models,
        BOOTSTRAP_API_KEY: apiKey,
        ...limitsOf[limits],
        SHUTDOWN_DELAY: '0s',
        SHUTDOWN_GRACE: '1s',
        ...env,
      },
    });
  }
}
