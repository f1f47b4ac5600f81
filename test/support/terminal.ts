import { type ChildProcess, spawn } from 'node:child_process';
import { until } from './until.js';

/** `npm start` in its own terminal (util-linux's script). The terminal ends with it. */
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
    // An ended process accepts no more keys.
    this.child.stdin!.on('error', () => undefined);
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.said += text));
  }

  /** Returns the address on which the service listens, when it does. */
  listening(): Promise<string> {
    return until(() => /listening on (http:\S+)/.exec(this.said)?.[1], {
      message: 'npm start listens',
      timeoutMs: 60_000,
      explain: () => this.said,
    });
  }
}
