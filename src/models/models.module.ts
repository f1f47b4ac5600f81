import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ModelEntity } from './model.entity.js';
import type { Model } from './model.js';
import { MODELS, ModelsService } from './models.service.js';

@Global()
@Module({})
export class ModelsModule {
  static register(models: Model[]): DynamicModule {
    return {
      module: ModelsModule,
      imports: [TypeOrmModule.forFeature([ModelEntity])],
      providers: [{ provide: MODELS, useValue: models }, ModelsService],
      exports: [ModelsService],
    };
  }
}
