import { Inject, Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Registry } from 'prom-client';
import { batchLines, type BatchLines } from '../batches/segment-writer.js';
import { REGISTRY } from './registry.js';
import { FastCounter } from './series.js';

const outcomes = ['completed', 'failed', 'cancelled', 'expired'] as const;

/** Metrics of the lines of batches that this node has written to their files. */
@Injectable()
export class BatchMetrics {
  private readonly lines: FastCounter;

  constructor(@Inject(REGISTRY) registry: Registry) {
    this.lines = new FastCounter({
      name: 'nowserving_batch_lines_total',
      help: 'Lines of batches that this node wrote to their files, by outcome.',
      registry,
      labelNames: ['outcome'],
    });
    for (const outcome of outcomes) this.lines.begin(outcome);
  }

  @OnEvent(batchLines)
  noteLines({ outcomes: written }: BatchLines): void {
    for (const outcome of written) this.lines.count(outcome);
  }
}
