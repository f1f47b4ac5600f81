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
}

class RunnersWithChannels extends Map {
  constructor(settings) {
    super();
    this.settings = settings;
  }

  set(projectConfig, { pool }) {
    const workerData = { ...this.settings, projectConfig };
    return super.set(projectConfig, {
      pool,
      run: ({ path }) => pool.run(path, { channel: channelOf(workerData) }),
    });
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
