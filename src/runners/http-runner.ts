import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { type Run, RunFailure, type Runner } from '../queue/runs/runner.js';
import { failureOf } from './http-failure.js';
import { exchange, type HttpAnswer } from './http-exchange.js';
import { readJsonOutput } from './json-output.js';
import { readNdjsonOutput } from './ndjson-output.js';

/** Runs a request by one POST to a model server. */
@Injectable()
export class HttpRunner implements Runner {
  /** Until TCP, and TLS, are there; the run's own time-out covers the rest. */
  connectTimeoutMs = 10_000;

  constructor(private readonly config: Config) {}

  async run(run: Run): Promise<string> {
    const { runner } = run.model;
    if (runner.kind !== 'http') throw new Error(`${run.model.id} is no http model`);
    const answer = await exchange(
      {
        url: runner.url,
        body: run.input,
        headers: {
          accept: 'application/json, application/x-ndjson',
          'user-agent': 'nowserving',
          ...runner.headers,
          // The answer is read as it comes.
          'accept-encoding': 'identity',
          'content-type': 'application/json',
          'x-request-id': run.requestId,
          'x-attempt': String(run.attempt),
        },
        connectTimeoutMs: this.connectTimeoutMs,
      },
      run.signal,
    );
    try {
      return await this.read(answer, run);
    } finally {
      answer.close();
    }
  }

  private async read(answer: HttpAnswer, run: Run): Promise<string> {
    if (answer.status < 200 || answer.status > 299) throw await failureOf(answer);
    const encoding = answer.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') throw unreadable('its answer is compressed, which was not asked for');
    const [contentType = ''] = (answer.headers['content-type'] ?? '').toLowerCase().split(';');
    switch (contentType.trim()) {
      case 'application/json':
        return readJsonOutput(answer, this.config.maxOutputBytes);
      case 'application/x-ndjson':
        return readNdjsonOutput(answer, this.config.maxOutputBytes, run);
      default:
        throw unreadable(
          `expected application/json or application/x-ndjson, got ${contentType.trim().slice(0, 100) || 'no content type'}`,
        );
    }
  }
}

function unreadable(reason: string): RunFailure {
  return new RunFailure(`The model's answer cannot be read: ${reason}.`, {
    code: 'model_error',
    retryable: false,
  });
}
