import { isatty } from 'node:tty';
import { Logger } from '@nestjs/common';
import { commandOf } from './config/package.js';
import { accountExternalMemory } from './internals/gc-flags.js';
import { type Config, loadConfig, redacted } from './config/config.js';
import { warningsOfSmallSettings } from './config/small-settings.js';
import { ApiDocument } from './http/openapi/api-document.js';
import { warningOfNode } from './internals/node-version.js';
import { type RunningService, startService } from './service.js';
import { exitNow, exitWithoutTerminal, onStopSignals } from './tools/stop-signals.js';

/**
 * The process: reads settings, starts the service, handles signals. If it cannot start, it prints one clear line and
 * exits with code 1.
 */
async function main(): Promise<void> {
  accountExternalMemory();
  // Node would print all fields of such an error, including settings.
  process.on('uncaughtException', (error) => fail(error instanceof Error ? error.stack! : String(error)));
  const config = loadConfig();
  const start = new AbortController();
  const starting = startService(config, start.signal);
  let service: RunningService | undefined;
  // A signal during the start undoes what has begun, such as a database. There are no runs to hand back.
  const signals = onStopSignals(
    (signal) => (service === undefined ? start.abort() : void end(service, delayAfter(signal, config))),
    (signal) => (service === undefined ? exitNow(signal) : service.endGracePeriod()),
  );
  const terminals = [0, 1, 2].filter(isatty);
  // A SIGHUP from a closed terminal stops the service. Any other SIGHUP reloads the models file.
  process.on('SIGHUP', () => {
    if (terminals.length > 0 && !terminals.every(isatty)) {
      exitWithoutTerminal();
      signals.receive('SIGHUP');
    } else if (!signals.wasReceived)
      void starting.then(
        (started) => started.reloadModels(),
        () => undefined,
      );
  });
  // Writes to a closed terminal fail. The stop that its SIGHUP caused must continue.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  try {
    service = await starting;
  } catch (error) {
    if (!start.signal.aborted) throw error;
    return stopped();
  }
  if (start.signal.aborted) return end(service, 0);
  process.stdout.write(startupBanner(service, config));
  const warning = warningOfNode(process.versions.node);
  if (warning !== undefined) new Logger('Node').warn(warning);
  for (const sentence of warningsOfSmallSettings(config)) new Logger('Settings').warn(sentence);
  describeApiSoon(service);
}

/** Milliseconds after its start at which a service makes its API description. */
const describeAfterMs = 5_000;

/**
 * The first caller of the description would wait long for it, and keep others waiting. If it fails, the first caller
 * gets the error.
 */
function describeApiSoon({ app }: RunningService): void {
  const { makeAhead } = app.get(ApiDocument);
  setTimeout(() => void makeAhead().catch(() => undefined), describeAfterMs).unref();
}

/** A person at a terminal does not wait for proxies. */
const delayAfter = (signal: NodeJS.Signals, { shutdownDelayMs }: Config): number =>
  signal === 'SIGTERM' ? shutdownDelayMs : 0;

async function end(service: RunningService, delayMs: number): Promise<void> {
  await service
    .stop(delayMs)
    .catch((error: Error) => fail(`The service did not stop cleanly: ${error.message}`));
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

/** Prints what a new user needs. Scripts wait for the first line. */
function startupBanner(service: RunningService, config: Config): string {
  const { url } = service;
  const lines = [`listening on ${url}`];
  if (config.role !== 'scheduler') {
    lines.push(`API description: ${url}/docs`);
    if (config.console) lines.push(`Console: ${config.publicBaseUrl ?? url}/console`);
  }
  if (service.newKeys !== undefined) {
    const { admin, caller } = service.newKeys;
    lines.push(
      `\nYour API key as the administrator, who may do everything, shown only this once: ${admin}`,
      `An API key for applications (submit, read, cancel), shown only this once: ${caller}\n`,
      ...(service.signInUrl === undefined
        ? []
        : [`Sign in to the console (once, within an hour): ${service.signInUrl}\n`]),
      'Try it:',
      ...firstSteps(url, caller),
    );
  } else if (service.needsKey && config.role !== 'scheduler') {
    lines.push(
      `There is no API key yet. Make one: ${commandOf('keys', 'create --name NAME')}`,
      '  or start with BOOTSTRAP_API_KEY set.',
    );
  } else if (config.databaseUrl === undefined)
    lines.push(`Another API key: ${commandOf('keys', 'create --name NAME')}`);
  return `${lines.join('\n')}\n`;
}

/** Three commands to paste: submit, follow until completion, save the picture. */
function firstSteps(url: string, key: string): string[] {
  const input = '{"prompt": "a quiet harbour at dusk"}';
  return [
    `  ID=$(curl -s ${url}/v1/queue/demo/image/fractal -H 'Authorization: Key ${key}' -d '${input}' | grep -o '[0-9a-f-]\\{36\\}' | head -1)`,
    `  curl -sN "${url}/v1/queue/requests/$ID/status/stream?logs=1"`,
    `  curl -s ${url}/v1/queue/requests/$ID | sed 's/.*base64,\\([^"]*\\).*/\\1/' | base64 -d > /tmp/fractal.png`,
  ];
}

main().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
