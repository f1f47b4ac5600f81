import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKey } from './api-key.entity.js';
import { CallerFinder } from './caller-finder.js';
import { CallerResolver } from './caller-resolver.js';
import { KeysService } from './keys.service.js';
import { LastUse } from './last-use.js';

@Module({
  imports: [TypeOrmModule.forFeature([ApiKey])],
  providers: [KeysService, CallerFinder, CallerResolver, LastUse],
  exports: [KeysService, CallerResolver],
})
export class AuthModule {}
