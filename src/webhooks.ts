import type { AddressInfo } from 'node:net';
import { InvalidArgumentError } from 'commander';
import { runCommandLine } from './command-line.js';
import { programOf } from './config/program.js';
import { parseWebhookSecret } from './config/secrets.js';
import { webhookListener } from './webhooks/cli/listener.js';

const program = programOf('webhooks', 'Helps to try out webhooks.').exitOverride();

program
  .command('listen')
  .description('Receives webhooks on this machine and prints them.')
  .option('-p, --port <port>', 'the port to listen on', portValue, 9000)
  .option('-s, --secret <secret>', 'whsec_…, to verify the signatures', secretValue)
  .action(({ port, secret }: { port: number; secret?: string }) => {
    const print = (text: string): void => void process.stdout.write(text);
    const server = webhookListener({ secret, print });
    process.stdout.once('error', () => process.exit(1)); // nobody reads it any more
    server.once('error', (error) => {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    });
    server.listen(port, '127.0.0.1', () => {
      const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const verifying = secret === undefined ? 'not verifying: give --secret whsec_…' : 'verifying';
      print(
        `listening on http://${address}/ (${verifying})\n` +
          `Start the service with WEBHOOK_ALLOW=${address}, and submit with ?webhook=http://${address}/\n\n`,
      );
    });
  });

function portValue(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('Expected a whole number from 0 to 65535.');
}

function secretValue(text: string): string {
  try {
    return parseWebhookSecret(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
}

await runCommandLine(program);
