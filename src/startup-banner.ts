import type { Config } from './config/config.js';
import type { RunningService } from './service.js';

/** What a newcomer needs to see; the first line is what scripts wait for. */
export function startupBanner(service: RunningService, config: Config): string {
  const { url } = service;
  const lines = [`listening on ${url}`];
  if (config.role !== 'scheduler') lines.push(`API description and console: ${url}/docs`);
  if (service.newKey !== undefined) {
    lines.push(
      '',
      `Your API key, shown only this once: ${service.newKey}`,
      '',
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
