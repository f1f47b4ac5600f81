import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Model } from './model.js';
import { MODELS, ModelsService } from './models.service.js';

@Global()
@Module({})
export class ModelsModule {
  /** `models` are those of `MODELS_FILE`, read before anything else starts. */
  static register(models: Model[]): DynamicModule {
    return {
      module: ModelsModule,
      providers: [{ provide: MODELS, useValue: models }, ModelsService],
      exports: [ModelsService],
    };
  }
}
