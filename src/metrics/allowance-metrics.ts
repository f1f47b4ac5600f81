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
      'What all callers of this node hold.',
      ['what'],
      each((resource) => allowances.inUse(resource)),
    );
    addGauge(
      registry,
      'allowance_limit',
      'What all callers of this node may hold; streams and calls of workers share one.',
      ['what'],
      each((resource) => allowances.bounds[resource].node),
    );
    addCounter(
      registry,
      'allowance_refused_total',
      'Calls refused because their caller, or all callers of this node, hold as much as they may.',
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
      'Connections closed by this node because of what their client did, or for want of descriptors.',
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
