import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type AuditAction, auditActions } from '../../audit/audit-actions.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { oneOf } from '../../requests/dto/list.query.js';
import { Option, text, time } from '../../requests/dto/submit.query.js';
import { PageQuery } from '../cursor-page.js';

export class AuditQuery extends PageQuery {
  @Option('actor', text, 'Only what this key did: its id, or the name that it had then.', 'ops')
  actor: string | undefined;

  @Option('action', oneOf(auditActions), 'Only this.', 'key.create', { enum: [...auditActions] })
  action: AuditAction | undefined;

  @Option('target', text, 'Only what was done to this: an id, or the method and path of a refused call.')
  target: string | undefined;

  @Option('after', time, 'RFC 3339: only what was done then or later.', undefined, { format: 'date-time' })
  after: number | undefined;

  @Option('before', time, 'RFC 3339: only what was done before.', undefined, { format: 'date-time' })
  before: number | undefined;
}

const maybeText = { type: String, nullable: true } as const;
const maybeId = { ...maybeText, format: 'uuid' } as const;
const state = { type: 'object', additionalProperties: true, nullable: true } as const;

@ApiSchema({ name: 'AuditActor', description: 'Who did it, and from where.' })
class AuditActorDto {
  @Field(
    'The id of the key; null: none, such as at a failed sign-in or on the command line.',
    exampleId,
    maybeId,
  )
  key_id!: string | null;
  @Field('The name of the key as it was then.', 'ops') name!: string;
  @Field('The session that stood for the key; null: the key itself.', exampleId, maybeId)
  session_id!: string | null;
  @Field('The address of the caller.', '192.0.2.7', maybeText) address!: string | null;
  @Field('What the client said it was.', 'curl/8.5.0', maybeText) user_agent!: string | null;
}

@ApiSchema({ name: 'AuditEntry', description: 'Something that an operator did, or was refused.' })
export class AuditEntryDto {
  @Field('Its id; ids are in the order of time.', exampleId, { format: 'uuid' }) id!: string;
  @Field('When, in UTC.', '2026-03-01T12:00:00.000Z', { type: String, format: 'date-time' }) at!: string;
  @Field('What.', 'key.create', { enum: auditActions }) action!: AuditAction;
  @Field('To what: an id, or the method and path of a refused call.', exampleId, maybeText)
  target!: string | null;
  @ApiProperty({ description: 'By whom.', type: AuditActorDto }) actor!: AuditActorDto;
  @Field('The `X-Request-Id` of the call.', '6a1f0f0e-5b0d-4a53-9b77-6d1f6f4f2c55', maybeText)
  http_request_id!: string | null;
  @Field('What was changed, as it was before.', { weight: 1 }, state) before!: object | null;
  @Field('The same as it was then.', { weight: 2 }, state) after!: object | null;
  @Field('Why, where that was said.', 'web shop pays for it', maybeText) reason!: string | null;
}

@ApiSchema({ name: 'AuditPage', description: 'What was audited, the newest first.' })
export class AuditPageDto {
  @ApiProperty({ description: 'The entries.', type: [AuditEntryDto] }) data!: AuditEntryDto[];
  @Field('The `cursor` of the next page; null: this is the last.', null, maybeText)
  next_cursor!: string | null;
}
