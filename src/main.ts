import { isatty } from 'node:tty';
import { accountExternalMemory } from './internals/gc-flags.js';
import { type Config, loadConfig, redacted } from './config/config.js';
import { type RunningService, startService } from './service.js';
import { exitNow, onStopSignals } from './tools/stop-signals.js';

/** The process: settings in, service up, signals obeyed. Exit code 1 and one clear line when it cannot start. */
async function main(): Promise<void> {
  accountExternalMemory();
  // Node would print all that such an error has, settings among them.
  process.on('uncaughtException', (error) => fail(error instanceof Error ? error.stack! : String(error)));
  const config = loadConfig();
  const start = new AbortController();
  const starting = startService(config, start.signal);
  let service: RunningService | undefined;
  // During the start, what has begun by then, such as a database, is undone; there are no runs to be handed back.
  const signals = onStopSignals(
    () => (service === undefined ? start.abort() : void end(service)),
    (signal) => (service === undefined ? exitNow(signal) : service.endGracePeriod()),
  );
  // At its exit Node 20 resets the terminal; on one that is gone it fails at that and hangs for ever. Before the other
  // listeners, as the log, which has nowhere to go, throws in its.
  const killNow = (): void => void process.kill(process.pid, 'SIGKILL');
  const terminals = [0, 1, 2].filter(isatty);
  // Of a terminal that was closed nothing is left. Any other SIGHUP has the models file read again.
  process.on('SIGHUP', () => {
    if (terminals.length > 0 && !terminals.every(isatty)) {
      process.prependOnceListener('exit', killNow);
      signals.receive('SIGHUP');
    } else if (!signals.wasReceived)
      void starting.then(
        (started) => started.reloadModels(),
        () => undefined,
      );
  });
  // A closed terminal takes nothing more; the stop that it has caused goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  try {
    service = await starting;
  } catch (error) {
    if (!start.signal.aborted) throw error;
    return stopped();
  }
  if (start.signal.aborted) return end(service);
  process.stdout.write(startupBanner(service, config));
}

async function end(service: RunningService): Promise<void> {
  await service.stop().catch((error: Error) => fail(`The service did not stop cleanly: ${error.message}`));
  stopped();
}

function stopped(): never {
  process.stdout.write('stopped\n');
  process.exit(0);
}

/** A driver or a parser may have put a part of a setting into its message. */
function fail(message: string): never {
  process.stderr.write(`${redacted(message)}\n`);
  process.exit(1);
}

/** What a newcomer needs to see; the first line is what scripts wait for. */
function startupBanner(service: RunningService, config: Config): string {
  const { url } = service;
  const lines = [`listening on ${url}`];
  if (config.role !== 'scheduler') {
    lines.push(`API description: ${url}/docs`);
    if (config.console) lines.push(`Console: ${config.publicBaseUrl ?? url}/console`);
  }
  if (service.newKey !== undefined) {
    lines.push(
      `\nYour API key, shown only this once: ${service.newKey}\n`,
      ...(service.signInUrl === undefined
        ? []
        : [`The console, signed in (once, within an hour): ${service.signInUrl}\n`]),
      'Try it:',
      ...firstSteps(url, service.newKey),
    );
  } else if (service.needsKey && config.role !== 'scheduler') {
    lines.push(
      'There is no API key yet. Make one: npm run keys -- create --name NAME',
      '  (without npm: node dist/src/keys.js create --name NAME), or start with BOOTSTRAP_API_KEY set.',
    );
  } else if (config.databaseUrl === undefined)
    lines.push('Another API key: npm run keys -- create --name NAME');
  return `${lines.join('\n')}\n`;
}

/** Three lines to paste: submit, follow to the end, save the picture. */
function firstSteps(url: string, key: string): string[] {
  const input = '{"prompt": "a quiet harbour at dusk"}';
  return [
    `  ID=$(curl -s ${url}/v1/queue/demo/image/fractal -H 'Authorization: Key ${key}' -d '${input}' | grep -o '[0-9a-f-]\\{36\\}' | head -1)`,
    `  curl -sN "${url}/v1/queue/requests/$ID/status/stream?logs=1"`,
    `  curl -s ${url}/v1/queue/requests/$ID | sed 's/.*base64,\\([^"]*\\).*/\\1/' | base64 -d > /tmp/fractal.png`,
  ];
}

main().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
