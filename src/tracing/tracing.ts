import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { SpanSender } from './span-sender.js';
import { fromSpanContext, toSpanContext, type TraceContext } from './trace-context.js';

export interface Ending {
  /** A code, never a message, because messages may contain texts of callers and models. */
  error?: string | undefined;
  attributes?: Attributes;
}

/** Work in progress, with a span if spans are sent. */
export interface Operation {
  /** The trace context for calls that this work makes. undefined: there is no trace. */
  readonly context: TraceContext | undefined;
  end(ending?: Ending): void;
}

interface Start {
  kind: SpanKind;
  attributes: Attributes;
  isLinked?: boolean;
  /** Milliseconds since 1970. undefined: now. */
  startTime?: number | undefined;
}

/**
 * Creates the spans of requests. If none are sent (`sendsSpans`), the caller's context is still passed on. Spans never
 * contain the id of a request, because the id is enough to read the request.
 */
@Injectable()
export class Tracing implements OnApplicationShutdown {
  /** undefined: no spans are sent. */
  private readonly tracer: SpanSender['tracer'] | undefined;

  constructor(private readonly sender?: SpanSender) {
    this.tracer = sender?.tracer;
  }

  get sendsSpans(): boolean {
    return this.tracer !== undefined;
  }

  /** Runs after the shutdown of everything that creates spans. */
  async onApplicationShutdown(): Promise<void> {
    await this.sender?.stop();
  }

  /**
   * Traces the write of submissions, with one span per model. `modelIds`: one per submission. The context of its model
   * must be stored with each.
   */
  async send<T>(
    modelIds: readonly string[],
    caller: TraceContext | undefined,
    write: (contextOf: (modelId: string) => TraceContext | undefined) => Promise<T>,
  ): Promise<T> {
    if (this.tracer === undefined) return write(() => caller);
    const counts = new Map<string, number>();
    for (const id of modelIds) counts.set(id, (counts.get(id) ?? 0) + 1);
    const sends = new Map(
      [...counts].map(([id, count]) => {
        const attributes = count === 1 ? {} : { 'messaging.batch.message_count': count };
        return [id, this.message('send', id, SpanKind.PRODUCER, caller, { attributes })];
      }),
    );
    let error: string | undefined = 'error';
    try {
      const result = await write((modelId) => sends.get(modelId)?.context);
      error = undefined;
      return result;
    } catch (thrown) {
      error = codeOf(thrown);
      throw thrown;
    } finally {
      for (const send of sends.values()) send.end({ error });
    }
  }

  /**
   * Traces a run, as a child of its submission. Every run after the first (`isFirst`) also links to it. The run may
   * have begun earlier.
   */
  process(
    modelId: string,
    sent: TraceContext | undefined,
    { attempt, isFirst, startedAtMs }: { attempt: number; isFirst: boolean; startedAtMs?: number },
  ): Operation {
    if (this.tracer === undefined) return passing(sent);
    const attributes = { 'nowserving.attempt': attempt };
    const start = { attributes, isLinked: !isFirst, startTime: startedAtMs };
    return this.message('process', modelId, SpanKind.CONSUMER, sent, start);
  }

  /**
   * Traces a POST to a model or a receiver. Only the host of the URL is recorded, because the rest may contain secrets.
   */
  call(text: string, cause: TraceContext | undefined): Operation {
    if (this.tracer === undefined) return passing(cause);
    const url = new URL(text);
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
    return this.start('POST', cause, {
      kind: SpanKind.CLIENT,
      attributes: {
        'http.request.method': 'POST',
        'server.address': url.hostname,
        'server.port': port,
        'url.scheme': url.protocol.slice(0, -1),
      },
    });
  }

  private message(
    verb: 'send' | 'process',
    modelId: string,
    kind: SpanKind,
    parent: TraceContext | undefined,
    { attributes, ...more }: Omit<Start, 'kind'>,
  ): Operation {
    const messaging = {
      'messaging.system': 'nowserving',
      'messaging.destination.name': modelId,
      'messaging.operation.name': verb,
      'messaging.operation.type': verb,
    };
    return this.start(`${verb} ${modelId}`, parent, {
      kind,
      attributes: { ...messaging, ...attributes },
      ...more,
    });
  }

  private start(
    name: string,
    parent: TraceContext | undefined,
    { kind, attributes, isLinked = false, startTime }: Start,
  ): Operation {
    const above = parent && toSpanContext(parent);
    const context = above === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, above);
    const links = isLinked && above !== undefined ? [{ context: above }] : [];
    const since = startTime !== undefined && { startTime };
    return new Traced(this.tracer!.startSpan(name, { kind, attributes, links, ...since }, context));
  }
}

class Traced implements Operation {
  readonly context: TraceContext | undefined;

  constructor(private readonly span: Span) {
    this.context = fromSpanContext(span.spanContext());
  }

  end({ error, attributes = {} }: Ending = {}): void {
    this.span.setAttributes(attributes);
    if (error !== undefined) {
      this.span.setAttribute('error.type', error);
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }
}

const nothing = (): void => undefined;
const passing = (context: TraceContext | undefined): Operation => ({ context, end: nothing });

/** Returns the code of an error, if it is one of ours. */
export function codeOf(thrown: unknown): string {
  const { code, options, name } = thrown as { code?: string; options?: { code?: string }; name?: string };
  return code ?? options?.code ?? name ?? 'error';
}
