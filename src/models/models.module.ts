import { Global, Module } from '@nestjs/common';
import { ModelsService } from './models.service.js';

@Global()
@Module({ providers: [ModelsService], exports: [ModelsService] })
export class ModelsModule {}
