import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ModelEntity } from './model.entity.js';
import type { FileModel } from './model.js';
import { ModelsFile } from './models-file.js';
import { MODELS, ModelsService } from './models.service.js';

@Global()
@Module({})
export class ModelsModule {
  static register(models: FileModel[], file: ModelsFile): DynamicModule {
    return {
      module: ModelsModule,
      imports: [TypeOrmModule.forFeature([ModelEntity])],
      providers: [
        { provide: MODELS, useValue: models },
        { provide: ModelsFile, useValue: file },
        ModelsService,
      ],
      exports: [ModelsService, ModelsFile],
    };
  }
}
