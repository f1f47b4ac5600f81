import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';

const maybeText = { type: String, nullable: true } as const;
const time = { type: String, format: 'date-time' } as const;

@ApiSchema({ name: 'AdminSession', description: 'A browser that is signed in.' })
class AdminSessionDto {
  @Field('Its id, which is no secret.', exampleId, { format: 'uuid' }) id!: string;
  @Field('The key that it stands for.', exampleId, { format: 'uuid' }) key_id!: string;
  @Field('The name of that key.', 'ops', maybeText) name!: string | null;
  @Field('From where it was begun.', '192.0.2.7', maybeText) address!: string | null;
  @Field('What the browser said it was.', 'Mozilla/5.0', maybeText) user_agent!: string | null;
  @Field('When it was begun, in UTC.', '2026-03-01T12:00:00.000Z', time) created_at!: string;
  @Field('When it ends by itself, in UTC.', '2026-03-02T00:00:00.000Z', time) expires_at!: string;
  @Field('Whether it is the one of this call.', false) is_current!: boolean;
}

@ApiSchema({ name: 'AdminSessionPage', description: 'Sessions that go on, the newest first.' })
export class AdminSessionPageDto {
  @ApiProperty({ description: 'The sessions.', type: [AdminSessionDto] }) data!: AdminSessionDto[];
  @Field('The `cursor` of the next page; null: this is the last.', null, maybeText)
  next_cursor!: string | null;
}
