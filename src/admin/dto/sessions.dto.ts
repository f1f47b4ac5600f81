import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { PageDto } from '../../http/openapi/page.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';

const maybeText = { type: String, nullable: true } as const;
const time = { type: String, format: 'date-time' } as const;

@ApiSchema({ name: 'AdminSession', description: 'A browser that is signed in.' })
class AdminSessionDto {
  @Field('The id of the session. It is no secret.', exampleId, { format: 'uuid' }) id!: string;
  @Field('The id of the key that the session stands for.', exampleId, { format: 'uuid' }) key_id!: string;
  @Field('The name of that key.', 'ops', maybeText) name!: string | null;
  @Field('The address from which the session was begun.', '192.0.2.7', maybeText) address!: string | null;
  @Field('The `User-Agent` with which the session was begun.', 'Mozilla/5.0', maybeText) user_agent!:
    string | null;
  @Field('The time at which it was begun, in UTC.', '2026-03-01T12:00:00.000Z', time) created_at!: string;
  @Field('The time at which it ends by itself, in UTC.', '2026-03-02T00:00:00.000Z', time)
  expires_at!: string;
  @Field('Whether this call uses this session.', false) is_current!: boolean;
}

@ApiSchema({ name: 'AdminSessionPage', description: 'A page of active sessions, newest first.' })
export class AdminSessionPageDto extends PageDto {
  @ApiProperty({ description: 'The sessions of the page.', type: [AdminSessionDto] })
  data!: AdminSessionDto[];
}
