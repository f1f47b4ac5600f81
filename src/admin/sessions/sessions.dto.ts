import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type Scope, scopes } from '../../auth/caller.js';
import { BodySchema } from '../../http/input/body.js';
import { Option } from '../../http/input/option.js';
import { text } from '../../tools/rules.js';
import { PageDto } from '../../http/openapi/page.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { textOrNull, time } from '../../http/openapi/schemas.js';

@ApiSchema({
  name: 'SignedIn',
  description: 'The key of the call. The call brings it directly or by a session.',
})
export class SignedInDto {
  @Field('The id of the key.', exampleId, { format: 'uuid' })
  key_id!: string;
  @Field('The name of the key, or of the person it belongs to.', 'ops')
  name!: string;
  @ApiProperty({
    description: 'The scopes of the key. `admin` includes all others, `payloads` includes `observe`.',
    type: [String],
    enum: scopes,
    example: ['observe'],
  })
  scopes!: readonly Scope[];
  @Field('The id of the session; null: the call brings the key itself.', exampleId, {
    type: String,
    format: 'uuid',
    nullable: true,
  })
  session_id!: string | null;
  @Field(
    'The time at which the session ends by itself, in UTC; null: there is no session.',
    '2030-12-31T00:00:00.000Z',
    {
      type: String,
      format: 'date-time',
      nullable: true,
    },
  )
  expires_at!: string | null;
}

@ApiSchema({ name: 'OidcOffer', description: 'Another way to sign in: OpenID Connect.' })
export class OidcOfferDto {
  @Field('The name of the provider.', 'id.example.org')
  name!: string;
  @Field('The URL at which a browser signs in.', 'http://127.0.0.1:3000/v1/admin/session/oidc', {
    format: 'uri',
  })
  url!: string;
}

@ApiSchema({ name: 'Session', description: 'The key that is signed in, and other ways to sign in.' })
export class SessionDto {
  @ApiProperty({
    description: 'The key of the call; null: the call brings none.',
    type: SignedInDto,
    nullable: true,
  })
  signed_in!: SignedInDto | null;
  @ApiProperty({
    description: 'The sign-in by OpenID Connect; null: it is not set up, so only keys and links sign in.',
    type: OidcOfferDto,
    nullable: true,
  })
  oidc!: OidcOfferDto | null;
}

@BodySchema({
  name: 'SignIn',
  description: 'A key or a link, not both.',
  examples: { key: { key: 'ns_…' }, link: { link: '…' } },
  oneOf: ['key', 'link'],
})
export class SignInDto {
  @Option(text, 'An API key.', 'ns_…')
  key: string | undefined;
  @Option(text, 'The part after `#link=` of a link that signs in once.', 'p2s…')
  link: string | undefined;
}

@ApiSchema({ name: 'AdminSession', description: 'A browser that is signed in.' })
class AdminSessionDto {
  @Field('The id of the session. It is no secret.', exampleId, { format: 'uuid' }) id!: string;
  @Field('The id of the key that the session stands for.', exampleId, { format: 'uuid' }) key_id!: string;
  @Field('The name of that key.', 'ops', textOrNull) name!: string | null;
  @Field('The address from which the session was begun.', '192.0.2.7', textOrNull) address!: string | null;
  @Field('The `User-Agent` with which the session was begun.', 'Mozilla/5.0', textOrNull) user_agent!:
    string | null;
  @Field('The time at which it was begun, in UTC.', '2026-03-01T12:00:00.000Z', time) created_at!: string;
  @Field('The time at which it ends by itself, in UTC.', '2026-03-02T00:00:00.000Z', time)
  expires_at!: string;
  @Field('True if this call uses this session.', false) is_current!: boolean;
}

@ApiSchema({ name: 'AdminSessionPage', description: 'A page of active sessions, newest first.' })
export class AdminSessionPageDto extends PageDto {
  @ApiProperty({ description: 'The sessions of the page.', type: [AdminSessionDto] })
  data!: AdminSessionDto[];
}
