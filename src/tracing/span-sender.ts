import { Logger } from '@nestjs/common';
import { diag, DiagLogLevel, type Tracer } from '@opentelemetry/api';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import { parsePlainUrl } from '../config/parsers.js';
import { passToLibraries } from '../config/secret-files.js';
import { agentOptions } from '../outgoing/connections.js';
import { RepeatedLines } from '../tools/repeated-lines.js';

/** How long a stop waits for the last spans to be sent. */
const stopGraceMs = 3_000;

export interface SpanSender {
  tracer: Tracer;
  /** Sends the remaining spans. */
  stop(): Promise<void>;
}

interface Resource {
  merge(other: Resource): Resource;
}

/** What is used of the optional packages. */
interface Packages {
  '@opentelemetry/sdk-trace-base': {
    BasicTracerProvider: new (options: object) => {
      getTracer(name: string): Tracer;
      shutdown(): Promise<void>;
    };
    BatchSpanProcessor: new (exporter: object) => object;
  };
  '@opentelemetry/exporter-trace-otlp-proto': {
    OTLPTraceExporter: new (options: { httpAgentOptions: object }) => object;
  };
  '@opentelemetry/resources': {
    defaultResource(): Resource;
    resourceFromAttributes(attributes: object): Resource;
    detectResources(options: { detectors: unknown[] }): Resource;
    envDetector: unknown;
  };
}

export type Load = <Name extends keyof Packages>(name: Name) => Promise<Packages[Name]>;
const load: Load = (name) => import(name) as Promise<Packages[typeof name]>;

const install =
  'npm install @opentelemetry/sdk-trace-base@2 @opentelemetry/exporter-trace-otlp-proto@0.223 @opentelemetry/resources@2';

/**
 * Reads OpenTelemetry's own OTEL_… variables. undefined: no spans are sent. A wrong one of these settings does not keep
 * the service from starting.
 */
export async function startSpanSender(
  { environment, nodeName }: Config,
  loadPackage = load,
): Promise<SpanSender | undefined> {
  const log = new Logger('Tracing');
  const read = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const variable = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'].find(read);
  const isOff =
    read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || read('OTEL_TRACES_EXPORTER') === 'none';
  if (variable === undefined || isOff) return undefined;
  try {
    parsePlainUrl(read(variable)!);
    const protocol = read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? read('OTEL_EXPORTER_OTLP_PROTOCOL');
    if (protocol !== undefined && protocol !== 'http/protobuf')
      throw new Error('the only supported OTLP protocol is http/protobuf, usually on port 4318');
    passToLibraries(['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'], environment);
    const sender = await start(nodeName, loadPackage);
    reportProblems(log);
    log.log(`traces are sent to ${new URL(read(variable)!).host}`);
    return sender;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ERR_MODULE_NOT_FOUND' ? `its packages are not installed: ${install}` : message;
    log.warn(`${variable} is set, but no traces are sent: ${reason}`);
    return undefined;
  }
}

async function start(nodeName: string, loadPackage: Load): Promise<SpanSender> {
  const { BasicTracerProvider, BatchSpanProcessor } = await loadPackage('@opentelemetry/sdk-trace-base');
  const { OTLPTraceExporter } = await loadPackage('@opentelemetry/exporter-trace-otlp-proto');
  const { defaultResource, resourceFromAttributes, detectResources, envDetector } =
    await loadPackage('@opentelemetry/resources');
  const ours = resourceFromAttributes({ 'service.name': 'nowserving', 'service.instance.id': nodeName });
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(ours)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ httpAgentOptions: agentOptions }))],
  });
  return {
    tracer: provider.getTracer('nowserving'),
    stop: async () => {
      const ended = new AbortController();
      const sending = provider.shutdown().finally(() => ended.abort());
      await Promise.allSettled([
        Promise.race([sending, delay(stopGraceMs, undefined, { signal: ended.signal })]),
      ]);
    },
  };
}

/** Logs a collector that is away once a minute. */
function reportProblems(log: Logger): void {
  const lines = new RepeatedLines();
  const report = (text: string): void => {
    // An error arrives as JSON, and may contain more than its message.
    const message = /"message":"([^"]*)"/.exec(text)?.[1] ?? text.slice(0, 200);
    lines.add(message, (count) =>
      log.warn({ count }, count === 1 ? `traces: ${message}` : `traces, ${count} more times: ${message}`),
    );
  };
  const none = (): void => undefined;
  const logger = { error: report, warn: report, info: none, debug: none, verbose: none };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
