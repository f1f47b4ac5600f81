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
  /** A code, never a message: those may hold what callers and models said. */
  error?: string | undefined;
  attributes?: Attributes;
}

/** Something under way, as a span where spans are sent. */
export interface Operation {
  /** For what it causes; undefined: there is no trace. */
  readonly context: TraceContext | undefined;
  end(ending?: Ending): void;
}

interface Start {
  kind: SpanKind;
  attributes: Attributes;
  isLinked?: boolean;
  /** Milliseconds since 1970; undefined: now. */
  startTime?: number | undefined;
}

/**
 * The spans of requests. Where none are sent (`sendsSpans`) the caller's context is passed on all the same. No id of a
 * request is in them: whoever knows it may read the request.
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

  /** After all that has spans. */
  async onApplicationShutdown(): Promise<void> {
    await this.sender?.stop();
  }

  /** The writing of a submission; what `write` is handed is to be stored with it. */
  send<T>(
    modelId: string,
    caller: TraceContext | undefined,
    write: (context: TraceContext | undefined) => Promise<T>,
  ): Promise<T> {
    return this.sendMany([modelId], caller, (contextOf) => write(contextOf(modelId)));
  }

  /** The same of many, a span for each of their models. `modelIds`: one a submission. */
  async sendMany<T>(
    modelIds: readonly string[],
    caller: TraceContext | undefined,
    write: (contextOf: (modelId: string) => TraceContext | undefined) => Promise<T>,
  ): Promise<T> {
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

  /** A run, a child of what was sent; each but the first (`isFirst`) has a link to that as well. It may have begun before. */
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

  /** A POST to a model or a receiver. Of its URL only the host is told: the rest may hold secrets. */
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

/** Of an error of ours its code. */
export function codeOf(thrown: unknown): string {
  const { code, options, name } = thrown as { code?: string; options?: { code?: string }; name?: string };
  return code ?? options?.code ?? name ?? 'error';
}
