import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { validate as isUuid } from 'uuid';
import { type Caller, priorities, type Priority } from '../../auth/caller.js';
import type { Batch } from '../../batches/batch.js';
import { unknownBatch } from '../../batches/batch-errors.js';
import { Batches, maxWindowSeconds } from '../../batches/batches.js';
import { parseDuration } from '../../tools/duration.js';
import { Clock } from '../../database/clock.js';
import { DomainError } from '../../errors/domain-error.js';
import { KeptFiles } from '../../files/kept-files.js';
import { isObject, parseObjectBody } from '../../http/input/json-body.js';
import { headerFieldsOf, Option } from '../../http/input/option.js';
import { oneOf } from '../../tools/rules.js';
import { SubmitHeaders } from '../../requests/dto/submit.headers.js';
import { tag } from '../../queue/submit/tags.js';
import { webhookUrl } from '../../requests/dto/submit.query.js';
import { type BatchTerms, batchEndpoints } from './batch-lines.js';
import { toBatch } from './batch-view.js';
import { expirySeconds } from './kept-files.js';
import type { OwnBatchesQuery } from './list-options.js';
import { wrongAt } from './openai-error.js';

/** The options of a batch that OpenAI does not have. */
export class BatchQuery {
  @Option(webhookUrl, 'A URL that is called when the batch ends.')
  webhook: string | undefined;
  @Option(oneOf(priorities), 'The priority of its lines: `low` (the default), `normal` or `high`.', 'normal')
  priority: Priority | undefined;
  @Option(tag, 'A tag of the batch and of its requests.', 'job:17')
  tag: string | undefined;
}

/** The call that makes a batch. */
export interface BatchCall {
  caller: Caller;
  body: Buffer;
  headers: IncomingHttpHeaders;
  query: BatchQuery;
  /** The beginning of URLs about the batch. */
  base: string;
}

const example = '{"input_file_id": "…", "endpoint": "/v1/chat/completions", "completion_window": "24h"}';
const maxMembers = 16;
const [maxNameLength, maxValueLength] = [64, 512];
/** A repeated call looks for its batch among this many. */
const maxLooked = 100;
/** The client gives up a call after 10 minutes, and then repeats it. */
const repeatedWithinMs = 11 * 60_000;

/** Batches in OpenAI's form. */
@Injectable()
export class OpenAiBatches {
  constructor(
    private readonly batches: Batches,
    private readonly kept: KeptFiles,
    private readonly clock: Clock,
  ) {}

  async create({
    caller,
    body,
    headers,
    query: { webhook, priority, tag: own },
    base,
  }: BatchCall): Promise<object> {
    const { fileId, windowSeconds, terms } = readTerms(parseObjectBody(body, { example }).value);
    const { purpose } = await this.kept.find(fileId, caller.keyId);
    if (purpose !== 'batch')
      throw wrongAt('input_file_id', `must be a file with the purpose batch, and this one is for ${purpose}`);
    const { 'idempotency-key': idempotencyKey } = headerFieldsOf(SubmitHeaders, headers);
    const isRepeated = Number(headers['x-stainless-retry-count'] ?? 0) > 0;
    const before =
      isRepeated && idempotencyKey === undefined ? await this.same(caller, fileId, terms) : undefined;
    if (before !== undefined) return toBatch(before);
    const made = {
      webhook,
      priority,
      tag: own,
      input: { fileId },
      windowSeconds,
      format: 'openai',
      metadata: { ...terms },
      idempotencyKey,
    };
    return toBatch((await this.batches.create(caller, made, base)).batch);
  }

  async list(caller: Caller, { after, limit }: OwnBatchesQuery): Promise<object> {
    const before = after === undefined ? undefined : (await this.found(caller, after)).id;
    const found = await this.batches.list(caller, { before, limit: limit + 1 });
    const data = found.slice(0, limit);
    const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return { object: 'list', data: data.map(toBatch), ...ends, has_more: found.length > limit };
  }

  async find(caller: Caller, id: string): Promise<object> {
    return toBatch(await this.found(caller, id));
  }

  async cancel(caller: Caller, id: string): Promise<object> {
    return toBatch(await this.batches.cancel(caller, (await this.found(caller, id)).id));
  }

  private async found(caller: Caller, id: string): Promise<Batch> {
    if (!isUuid(id)) throw unknownBatch();
    return this.batches.get(caller, id);
  }

  /**
   * Returns the batch that an earlier try of this call made. The client marks the call as a repetition, and sends no
   * idempotency key.
   */
  private async same(caller: Caller, fileId: string, terms: BatchTerms): Promise<Batch | undefined> {
    const since = this.clock.now() - repeatedWithinMs;
    return (await this.batches.list(caller, { limit: maxLooked })).find(
      ({ inputFileId, createdAtMs, metadata }) =>
        inputFileId === fileId && createdAtMs > since && isDeepStrictEqual(metadata, terms),
    );
  }
}

function readTerms(body: Readonly<Record<string, unknown>>): {
  fileId: string;
  windowSeconds: number;
  terms: BatchTerms;
} {
  const { input_file_id: fileId, endpoint, completion_window: window, metadata, output_expires_after } = body;
  if (typeof fileId !== 'string') throw wrongAt('input_file_id', 'must be the id of a file');
  if (!batchEndpoints.some((one) => one === endpoint))
    throw wrongAt('endpoint', `must be one of ${batchEndpoints.join(', ')}`);
  if (typeof window !== 'string') throw wrongAt('completion_window', 'must be a duration such as 24h');
  const keptFor = output_expires_after ?? null;
  if (keptFor !== null && !isObject(keptFor)) throw wrongAt('output_expires_after', 'must be an object');
  return {
    fileId,
    windowSeconds: secondsOf(window),
    terms: {
      endpoint: endpoint as string,
      completion_window: window,
      metadata: readMetadata(metadata ?? null),
      output_seconds: keptFor === null ? null : expirySeconds('output_expires_after', keptFor),
    },
  };
}

function secondsOf(window: string): number {
  const wrong = (why: string): DomainError => wrongAt('completion_window', why);
  let seconds: number;
  try {
    seconds = parseDuration(window) / 1_000;
  } catch (error) {
    throw wrong(`is no duration: ${(error as Error).message}`);
  }
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= maxWindowSeconds) return seconds;
  throw wrong(`must be whole seconds, from 1s to ${maxWindowSeconds / 86_400}d`);
}

/** Clients keep data of their own with a batch. */
function readMetadata(value: unknown): BatchTerms['metadata'] {
  if (value === null) return null;
  const entries = isObject(value) ? Object.entries(value) : undefined;
  if (entries === undefined || entries.length > maxMembers)
    throw wrongAt('metadata', `must be an object with at most ${maxMembers} members`);
  for (const [name, one] of entries) {
    if (name.length > maxNameLength || typeof one !== 'string' || one.length > maxValueLength)
      throw wrongAt(
        `metadata/${name.slice(0, maxNameLength)}`,
        `must be a text of at most ${maxValueLength} characters, with a name of at most ${maxNameLength}`,
      );
  }
  return Object.fromEntries(entries) as Record<string, string>;
}
