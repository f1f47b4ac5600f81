import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { OverviewCoreModule } from '../overview/overview-core.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { AuditController } from './audit/audit.controller.js';
import { KeySecrets } from './keys/key-secrets.js';
import { Keys } from './keys/keys.js';
import { KeysController } from './keys/keys.controller.js';
import { Oidc } from './oidc/oidc.js';
import { OidcController } from './oidc/oidc.controller.js';
import { OidcStates } from './oidc/oidc-state.js';
import { OidcUsers } from './oidc/oidc-users.js';
import { OidcProvider } from './oidc/provider.js';
import { SessionController } from './session.controller.js';
import { SessionsController } from './sessions.controller.js';
import { SignIn } from './sign-in.js';

/** Sign-in, sessions, keys and the audit. */
@Module({
  imports: [LimitsModule, OverviewCoreModule, WebhooksModule],
  controllers: [SessionController, OidcController, SessionsController, KeysController, AuditController],
  providers: [Keys, KeySecrets, SignIn, Oidc, OidcProvider, OidcStates, OidcUsers],
})
export class AccessModule {}
