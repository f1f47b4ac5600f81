import { createRunner } from 'jest-light-runner';

/**
 * jest-light-runner in processes of its own. In the package all of them share one channel, which answers a process that
 * asks for its settings by telling each that was given a file: one that is not listening yet waits for ever for what it
 * has missed. Here each file has a channel, and the answer goes to the process that asked.
 */
export default class Runner extends createRunner({ runtime: 'child_process' }) {
  constructor(...options) {
    super(...options);
    this._testRunners = new RunnersWithChannels({ globalConfig: this._globalConfig, runtime: this._runtime });
  }

  async runTests(...options) {
    await super.runTests(...options);
    if (process.env.NODE_V8_COVERAGE) await this._testRunners.coverageWritten();
  }
}

class RunnersWithChannels extends Map {
  pools = [];

  constructor(settings) {
    super();
    this.settings = settings;
  }

  set(projectConfig, { pool }) {
    const workerData = { ...this.settings, projectConfig };
    this.pools.push(pool);
    return super.set(projectConfig, {
      pool,
      run: ({ path }) => pool.run(path, { channel: channelOf(workerData) }),
    });
  }

  /** A process writes its coverage when it exits, which takes seconds. The pool would kill it after one. */
  async coverageWritten() {
    const workers = this.pools.flatMap(({ threads = [] }) => threads);
    for (const { process: child } of workers) child.kill = () => child.connected && child.disconnect();
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function channelOf(workerData) {
  let send;
  return {
    onMessage: (listener) => (send = listener),
    postMessage: (message) => {
      if (message === 'jest-light-runner-get-worker-data')
        send({ type: 'jest-light-runner-worker-data', workerData });
    },
  };
}
