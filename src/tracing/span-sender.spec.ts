import { Logger } from '@nestjs/common';
import { Config } from '../config/config.js';
import { type Load, startSpanSender } from './span-sender.js';

let lines: unknown[] = [];
beforeAll(() => {
  const write = (line: unknown): void => void lines.push(line);
  Logger.overrideLogger({ log: write, warn: write, error: write });
});
beforeEach(() => (lines = []));

const missing: Load = () => Promise.reject(Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' }));
const start = (environment: Record<string, string>, load?: Load) =>
  startSpanSender(Object.assign(new Config(), { environment }), load);
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

test.each([
  [{}],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '  ' }],
  [{ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }],
  [{ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }],
])('%j sends no spans, loads no packages and logs nothing', async (environment) => {
  expect(await start(environment, missing)).toBeUndefined();
  expect(lines).toEqual([]);
});

test.each([
  [
    'packages are missing',
    endpoint,
    missing,
    /: its packages are not installed: npm install @opentelemetry\//,
  ],
  [
    'the protocol is another',
    { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    undefined,
    /http\/protobuf/,
  ],
  ['the endpoint is no URL', { OTEL_EXPORTER_OTLP_ENDPOINT: 'user:hush@a' }, undefined, /: expected a URL/],
])('if %s, the service works without spans and logs the reason', async (_, environment, load, reason) => {
  expect(await start(environment, load)).toBeUndefined();
  expect(lines).toEqual([
    expect.stringMatching(/^OTEL_EXPORTER_OTLP_ENDPOINT is set, but no traces are sent: /),
  ]);
  expect(lines[0]).toMatch(reason);
  expect(lines[0]).not.toContain('hush');
});

test('spans are recorded if the packages are installed, and the receiver is logged', async () => {
  const sender = await start({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces',
  });
  expect(sender!.tracer.startSpan('a').isRecording()).toBe(true);
  expect(lines).toEqual(['traces are sent to 127.0.0.1:4318']);
  await sender!.stop();
});
