import { type ChildProcess, spawn } from 'node:child_process';
import { until } from './until.js';

/** `npm start` in a terminal of its own (util-linux's script), whose end is the terminal's. */
export class Terminal {
  said = '';
  readonly child: ChildProcess;

  constructor(environment: Record<string, string>, shell = '/bin/sh') {
    this.child = spawn('script', ['--quiet', '--return', '--command', 'exec npm start', '/dev/null'], {
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        npm_config_update_notifier: 'false',
        npm_config_script_shell: shell,
        PORT: '0',
        ...environment,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    // One that has ended takes no more keys.
    this.child.stdin!.on('error', () => undefined);
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.said += text));
  }

  /** Where the service listens, once it does. */
  listening(): Promise<string> {
    return until(() => /listening on (http:\S+)/.exec(this.said)?.[1], {
      message: 'npm start listens',
      timeoutMs: 60_000,
      explain: () => this.said,
    });
  }
}
