import { createTraceState, isSpanContextValid, type SpanContext } from '@opentelemetry/api';

/** A trace context in the format of W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

const length = 55;
/** `version-trace id-span id-flags`. A future version may append more. */
const pattern = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;

/** Reads the trace context of a call. undefined: it has none, or an invalid one, which the standard says to ignore. */
export function traceContextOf(headers: object): TraceContext | undefined {
  const { traceparent, tracestate } = headers as Record<string, unknown>;
  // Most calls have none.
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId, spanId, flags] = pattern.exec(traceparent) ?? [];
  if (version === undefined || (version === '00' && traceparent.length !== length)) return undefined;
  const state = typeof tracestate === 'string' ? stateOf(tracestate) : undefined;
  // Only the flags "sampled" and "random" are known.
  const known = (Number.parseInt(flags!, 16) & 3).toString(16).padStart(2, '0');
  return { traceparent: `00-${traceId}-${spanId}-${known}`, ...(state && { tracestate: state }) };
}

export function toSpanContext({ traceparent, tracestate }: TraceContext): SpanContext {
  const [, traceId, spanId, flags] = traceparent.split('-') as [string, string, string, string];
  const traceFlags = Number.parseInt(flags, 16);
  return {
    traceId,
    spanId,
    traceFlags,
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  };
}

/** undefined: there is no trace. */
export function fromSpanContext(context: SpanContext): TraceContext | undefined {
  if (!isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = context;
  const tracestate = traceState?.serialize() || undefined;
  const flags = traceFlags.toString(16).padStart(2, '0');
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(tracestate && { tracestate }) };
}

/** Keeps the valid entries, within the standard's limits: 32 entries, 512 characters. */
const stateOf = (text: string): string | undefined => createTraceState(text).serialize() || undefined;

/** Reads the trace context of a row. */
export function storedContext(row: {
  traceparent: string | null;
  tracestate: string | null;
}): TraceContext | undefined {
  const { traceparent, tracestate } = row;
  if (traceparent === null) return undefined;
  return tracestate === null ? { traceparent } : { traceparent, tracestate };
}
