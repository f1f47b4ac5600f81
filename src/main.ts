import { loadConfig } from './config/config.js';
import { greeting } from './greeting.js';
import { startService } from './service.js';

/** The process: settings in, service up, signals obeyed. Exit code 1 and one clear line when it cannot start. */
async function main(): Promise<void> {
  const config = loadConfig();
  const starting = startService(config);
  let stopping = false;
  // Also during the start: what has begun by then, such as a database, is first completed and then ended.
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    starting
      .then((service) => service.stop())
      .then(
        () => process.exit(0),
        (error: Error) => fail(`The service did not stop cleanly: ${error.message}`),
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  const service = await starting;
  if (!stopping) process.stdout.write(greeting(service, config));
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

main().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
