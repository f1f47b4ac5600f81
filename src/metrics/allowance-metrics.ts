import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import { allowedResources, Allowances, type Resource } from '../allowances/allowances.js';
import { Refusals } from '../audit/refusals.js';
import { HttpConnections } from '../http/http-connections.js';
import { addCounter, addGauge } from './gauges.js';
import { REGISTRY } from './registry.js';

const names: Readonly<Record<Resource, string>> = {
  bytes: 'bytes',
  streams: 'streams',
  workerCalls: 'worker_calls',
};

/** Metrics of what the callers of this node hold, and of what was refused or closed because of it. */
@Injectable()
export class AllowanceMetrics {
  constructor(
    @Inject(REGISTRY) registry: Registry,
    allowances: Allowances,
    connections: HttpConnections,
    refusals: Refusals,
  ) {
    const each = (value: (resource: Resource) => number) => () =>
      allowedResources.map((resource) => [[names[resource]], value(resource)] as const);
    addGauge(
      registry,
      'allowance_used',
      'Resources that all callers of this node use.',
      ['what'],
      each((resource) => allowances.inUse(resource)),
    );
    addGauge(
      registry,
      'allowance_limit',
      'The limit of all callers of this node; streams and calls of workers share one limit.',
      ['what'],
      each((resource) => allowances.bounds[resource].node),
    );
    addCounter(
      registry,
      'allowance_refused_total',
      'Calls refused because their caller, or all callers of this node, reached their limit.',
      ['what', 'by'],
      () =>
        allowedResources.flatMap((resource) =>
          (['caller', 'node'] as const).map(
            (by) => [[names[resource], by], allowances.refused[resource][by]] as const,
          ),
        ),
    );
    addCounter(
      registry,
      'http_connections_closed_total',
      'Connections that this node closed because of their client, or because it had no descriptors left.',
      ['reason'],
      () => Object.entries(connections.closed).map(([reason, count]) => [[reason], count] as const),
    );
    addCounter(
      registry,
      'audit_refusals_left_out_total',
      'Refusals that have no row of their own in the audit because there were too many in a minute.',
      [],
      () => [[[], refusals.leftOut]],
    );
  }
}
