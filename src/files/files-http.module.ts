import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { FilesController } from './files.controller.js';
import { FilesModule } from './files.module.js';

/** The calls about files, on nodes that serve calls. */
@Module({
  imports: [AuthModule, FilesModule, LimitsModule],
  controllers: [FilesController],
})
export class FilesHttpModule {}
