import { Module } from '@nestjs/common';
import { QueueModule } from '../../queue/queue.module.js';
import { ModelsReload } from './models-reload.js';

/** Loaded on every node, even on one that serves no calls. */
@Module({ imports: [QueueModule], providers: [ModelsReload], exports: [ModelsReload] })
export class ModelsReloadModule {}
