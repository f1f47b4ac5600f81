import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { ModelFigures } from './model-figures.js';
import { OverviewCoreModule } from './overview-core.module.js';
import { QueueFronts } from './queue-fronts.js';
import { QueueLooks } from './queue-looks.js';
import { WaitingKeys } from './waiting-keys.js';

/** The figures and queues that operators see. */
@Module({
  imports: [OverviewCoreModule, QueueModule],
  providers: [ModelFigures, QueueFronts, QueueLooks, WaitingKeys],
  exports: [OverviewCoreModule, ModelFigures, QueueFronts, QueueLooks],
})
export class OverviewModule {}
