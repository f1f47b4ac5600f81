import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ModelEntity } from './model.entity.js';
import type { FileModel } from './model.js';
import { MODELS, ModelsService, READ_MODELS } from './models.service.js';

@Global()
@Module({})
export class ModelsModule {
  static register(models: FileModel[], read: () => FileModel[]): DynamicModule {
    return {
      module: ModelsModule,
      imports: [TypeOrmModule.forFeature([ModelEntity])],
      providers: [
        { provide: MODELS, useValue: models },
        { provide: READ_MODELS, useValue: read },
        ModelsService,
      ],
      exports: [ModelsService, READ_MODELS],
    };
  }
}
