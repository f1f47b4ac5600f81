import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { ModelsReload } from './models-reload.js';

/** On every node, also where no calls are served. */
@Module({ imports: [QueueModule], providers: [ModelsReload], exports: [ModelsReload] })
export class ModelsReloadModule {}
