import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Database } from '../database/database.js';
import { LimitsDatabase } from '../database/limits-database.js';
import { AccessLog, type AnsweredExchange } from '../http/access-log.js';
import { OtherApis } from '../http/other-apis.js';
import { QueueEvents } from '../queue/queue-events.js';
import { BoundedNames } from './bounded-names.js';
import { callBuckets, REGISTRY, statementBuckets } from './registry.js';
import { methodLabel, routeLabel } from './route-label.js';
import { FastCounter, FastHistogram } from './series.js';

/** Streams last as long as their clients want. */
const isStream = /\/stream$|^\/v1\/admin\/events$/;
/** Routes of the service's own API on which a POST submits. */
const submitRoutes = new Set([
  '/v1/queue/{model_id}',
  '/v1/queue/requests',
  '/v1/queue/requests/{request_id}/retry',
]);
/** Codes whose series start at 0, so that their first increase is visible. */
const warned = ['queue_full', 'rate_limited', 'model_paused', 'unavailable', 'internal_error'];
const maxStatements = 200;

/** Metrics of the HTTP calls to this node and of its database statements. */
@Injectable()
export class CallMetrics {
  private readonly calls: FastHistogram;
  private readonly refusals: FastCounter;
  private readonly statements: FastHistogram;
  private readonly statementNames = new BoundedNames(maxStatements);

  constructor(
    @Inject(REGISTRY) registry: Registry,
    accessLog: AccessLog,
    private readonly apis: OtherApis,
    database: Database,
    limits: LimitsDatabase,
    events: QueueEvents,
  ) {
    this.calls = new FastHistogram({
      name: 'nowserving_http_server_request_duration_seconds',
      help: 'Answered calls except streams, including long polls (Prefer: wait).',
      registry,
      labelNames: ['method', 'route', 'status_code'],
      buckets: callBuckets,
    });
    this.refusals = new FastCounter({
      name: 'nowserving_submissions_refused_total',
      help: 'Calls to submit that were refused, by the code of the problem.',
      registry,
      labelNames: ['reason'],
    });
    for (const reason of warned) this.refusals.begin(reason);
    this.statements = new FastHistogram({
      name: 'nowserving_statement_duration_seconds',
      help: 'Time of prepared statements, from sending to answer.',
      registry,
      labelNames: ['statement'],
      buckets: statementBuckets,
    });
    events.on('submission.refused', (refusals) => {
      for (const { code } of refusals) this.refusals.count(code);
    });
    accessLog.onExchange = (exchange) => this.noteExchange(exchange);
    for (const one of [database, limits])
      one.onStatement = (name, ms) => this.statements.note(ms / 1_000, this.statementNames.of(name));
  }

  noteExchange({ request, status, code, route, durationMs }: AnsweredExchange): void {
    const [method, label] = [methodLabel(request), routeLabel(request, route)];
    if (!isStream.test(label)) this.calls.note(durationMs / 1_000, method, label, status);
    if (code === undefined || method !== 'POST') return;
    if (submitRoutes.has(label) || this.apis.isSubmitRoute(label)) this.refusals.count(code);
  }
}
