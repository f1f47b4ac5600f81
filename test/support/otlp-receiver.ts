import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** `SpanKind` of OTLP: 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  isError: boolean;
  /** Attributes of the process. */
  resource: Record<string, unknown>;
}

/** Receives traces by OTLP, as protobuf over HTTP, on 127.0.0.1. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** All bodies received, to search for data that must not be in them. */
  readonly bodies: Buffer[] = [];
  status = 200;
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const sent = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      if (request.url === '/v1/traces') {
        this.bodies.push(body);
        this.spans.push(...spansOf(body));
      }
      response.writeHead(this.status, { 'content-type': 'application/x-protobuf' }).end();
    });
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }
}

/** The values of each field in order: numbers as bigint, everything else as bytes. */
type Fields = Map<number, (bigint | Buffer)[]>;

/** Parses the fields of a protobuf message. */
function fieldsOf(message: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number): Buffer => message.subarray(at, (at += length));
  while (at < message.length) {
    const tag = Number(varint());
    const wireType = tag & 7;
    const value =
      wireType === 0 ? varint() : bytes(wireType === 2 ? Number(varint()) : wireType === 1 ? 8 : 4);
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

const messages = (fields: Fields, field: number): Fields[] =>
  (fields.get(field) ?? []).map((value) => fieldsOf(value as Buffer));
const text = (fields: Fields, field: number): string => String(fields.get(field)?.[0] ?? '');
const hex = (fields: Fields, field: number): string =>
  ((fields.get(field)?.[0] ?? Buffer.alloc(0)) as Buffer).toString('hex');
const number = (fields: Fields, field: number): number => Number(fields.get(field)?.[0] ?? 0);

/** Reads texts and whole numbers, the only types that are sent. */
function attributesOf(fields: Fields, field: number): Record<string, unknown> {
  const entries = messages(fields, field).map((entry) => {
    const [value] = messages(entry, 2) as [Fields];
    return [text(entry, 1), value.has(1) ? text(value, 1) : number(value, 3)];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** Reads the spans of an ExportTraceServiceRequest. The numbers are those of opentelemetry-proto. */
function spansOf(body: Buffer): ReceivedSpan[] {
  return messages(fieldsOf(body), 1).flatMap((ofResource) => {
    const [described] = messages(ofResource, 1);
    const resource = described === undefined ? {} : attributesOf(described, 1);
    const spans = messages(ofResource, 2).flatMap((ofScope) => messages(ofScope, 2));
    return spans.map((span) => ({
      traceId: hex(span, 1),
      spanId: hex(span, 2),
      parentSpanId: hex(span, 4),
      name: text(span, 5),
      kind: number(span, 6),
      attributes: attributesOf(span, 9),
      links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
      isError: messages(span, 15).some((status) => number(status, 3) === 2),
      resource,
    }));
  });
}
