import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKey } from './api-key.entity.js';
import { CallerFinder } from './caller-finder.js';
import { CallerResolver } from './caller-resolver.js';
import { KeysService } from './keys.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([ApiKey])],
  providers: [KeysService, CallerFinder, CallerResolver],
  exports: [KeysService, CallerResolver],
})
export class AuthModule {}
