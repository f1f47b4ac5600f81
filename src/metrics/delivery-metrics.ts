import { Inject, Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Registry } from 'prom-client';
import { deliveryTried, type DeliveryTried } from '../webhooks/delivery-events.js';
import { callBuckets, REGISTRY } from './registry.js';
import { FastCounter, FastHistogram } from './series.js';

const states = ['delivered', 'pending', 'failed', 'ended'] as const;

/** Metrics of the webhooks that this node has tried. */
@Injectable()
export class DeliveryMetrics {
  private readonly tries: FastCounter;
  private readonly durations: FastHistogram;

  constructor(@Inject(REGISTRY) registry: Registry) {
    this.tries = new FastCounter({
      name: 'nowserving_webhook_tries_total',
      help: 'Tries of webhooks, by what became of the delivery: pending is tried again, failed was given up.',
      registry,
      labelNames: ['state'],
    });
    for (const state of states) this.tries.begin(state);
    this.durations = new FastHistogram({
      name: 'nowserving_webhook_duration_seconds',
      help: 'How long tries of webhooks took.',
      registry,
      buckets: callBuckets,
    });
  }

  @OnEvent(deliveryTried)
  noteTry({ state, durationMs }: DeliveryTried): void {
    this.tries.count(state);
    this.durations.note(durationMs / 1_000);
  }
}
