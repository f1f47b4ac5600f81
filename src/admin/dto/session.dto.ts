import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { type Scope, scopes } from '../../auth/caller.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';

@ApiSchema({ name: 'SignedIn', description: 'Whose key the call brings, by itself or by a session.' })
export class SignedInDto {
  @Field('The id of the key.', exampleId, { format: 'uuid' })
  key_id!: string;
  @Field('The name of the key, or of the person whose it is.', 'ops')
  name!: string;
  @ApiProperty({
    description: 'All that it may; `admin` brings all others, `payloads` brings `observe`.',
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
  @Field('When the session ends by itself, in UTC; null: there is none.', '2030-12-31T00:00:00.000Z', {
    type: String,
    format: 'date-time',
    nullable: true,
  })
  expires_at!: string | null;
}

@ApiSchema({ name: 'OidcOffer', description: 'Another way to sign in: OpenID Connect.' })
export class OidcOfferDto {
  @Field('What the provider is called.', 'id.example.org')
  name!: string;
  @Field('Where a browser is sent to sign in.', 'http://127.0.0.1:3000/v1/admin/session/oidc', {
    format: 'uri',
  })
  url!: string;
}

@ApiSchema({ name: 'Session', description: 'Who is signed in, and how one can sign in besides with a key.' })
export class SessionDto {
  @ApiProperty({
    description: 'Who calls; null: nobody who is known.',
    type: SignedInDto,
    nullable: true,
  })
  signed_in!: SignedInDto | null;
  @ApiProperty({ description: 'null: only keys and links sign in.', type: OidcOfferDto, nullable: true })
  oidc!: OidcOfferDto | null;
}

@ApiSchema({ name: 'SignIn', description: 'One of the two.' })
export class SignInDto {
  @ApiPropertyOptional({ description: 'An API key.', type: String, example: 'ns_…' })
  key?: string;
  @ApiPropertyOptional({
    description: 'What follows `#link=` in a link that signs in once.',
    type: String,
    example: 'p2s…',
  })
  link?: string;
}
