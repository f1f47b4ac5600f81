import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import type { Reply } from '../http/reply.js';
import { validated } from '../http/validated.js';
import { LogsQuery } from './dto/logs.query.js';
import { SubmitHeaders } from './dto/submit.headers.js';
import { requestUrls } from './request-urls.js';
import { RequestsService } from './requests.service.js';
import { toLogEntryView, toMetrics } from './status-view.js';

export interface SubmitCall {
  caller: Caller;
  /** undefined: the path names none. */
  modelId: string | undefined;
  body: Buffer;
  headers: object;
  /** Of the URLs in the answer. */
  base: string;
}

export interface RequestCall {
  caller: Caller | undefined;
  requestId: string;
}

export interface ReadCall extends RequestCall {
  /** As it came. */
  query: object;
}

/** What the four calls answer, whichever door they came by: the fast path or the controller. */
@Injectable()
export class RequestHandlers {
  constructor(private readonly requests: RequestsService) {}

  async submit({ caller, modelId, body, headers, base }: SubmitCall): Promise<Reply> {
    const { 'idempotency-key': key } = validated(SubmitHeaders, headers);
    const { id, replayed } = await this.requests.submit(caller, modelId, body, key);
    const urls = requestUrls(base, id);
    const fields = ['Location', urls.status_url];
    if (replayed) fields.push('Idempotent-Replayed', 'true');
    return { status: 202, fields, body: JSON.stringify({ request_id: id, ...urls }) };
  }

  async status({ caller, requestId, query, base }: ReadCall & { base: string }): Promise<Reply> {
    const { logs } = validated(LogsQuery, query);
    const view = await this.requests.status(caller, requestId, logs, base);
    return { status: 200, body: JSON.stringify(view) };
  }

  async response({ caller, requestId, query }: ReadCall): Promise<Reply> {
    const { logs } = validated(LogsQuery, query);
    const row = await this.requests.find(caller, requestId);
    const output = await this.requests.output(row);
    if (!logs) return { status: 200, body: output };
    const entries = (await this.requests.log(row)).map(toLogEntryView);
    // The output goes through as the text it is: parsing and writing it again could change its numbers.
    const body =
      `{"request_id":${JSON.stringify(row.id)},"status":"COMPLETED","response":${output},` +
      `"logs":${JSON.stringify(entries)},"metrics":${JSON.stringify(toMetrics(row))}}`;
    return { status: 200, body };
  }

  async cancel({ caller, requestId }: RequestCall): Promise<Reply> {
    const status = await this.requests.cancel(caller, requestId);
    return { status: status === 'CANCELLED' ? 200 : 202, body: JSON.stringify({ status }) };
  }
}
