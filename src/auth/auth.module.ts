import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessRule } from './access-rule.js';
import { ApiKey } from './api-key.entity.js';
import { CallerFinder } from './caller-finder.js';
import { CallerResolver } from './caller-resolver.js';
import { CallerWatch } from './caller-watch.js';
import { ServiceSecretEntity } from './entities/service-secret.entity.js';
import { SessionEntity } from './entities/session.entity.js';
import { SignInLinkEntity } from './entities/sign-in-link.entity.js';
import { Handles } from './handles.js';
import { KeysService } from './keys.service.js';
import { ServiceSecrets } from './service-secrets.js';
import { Sessions } from './sessions.js';
import { SignInLinks } from './sign-in-links.js';

@Module({
  imports: [TypeOrmModule.forFeature([ApiKey, ServiceSecretEntity, SessionEntity, SignInLinkEntity])],
  providers: [
    AccessRule,
    KeysService,
    CallerFinder,
    CallerResolver,
    CallerWatch,
    Handles,
    ServiceSecrets,
    Sessions,
    SignInLinks,
  ],
  exports: [
    AccessRule,
    KeysService,
    CallerResolver,
    CallerWatch,
    Handles,
    ServiceSecrets,
    Sessions,
    SignInLinks,
  ],
})
export class AuthModule {}
