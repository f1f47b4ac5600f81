import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type AuditAction, auditActions } from '../../audit/audit-actions.js';
import { PageDto } from '../../http/openapi/page.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { oneOf, text, time } from '../../tools/rules.js';
import { Option } from '../../http/input/option.js';
import { PageQuery } from '../../http/input/page.js';
import { idOrNull, textOrNull } from '../../http/openapi/schemas.js';

export class AuditQuery extends PageQuery {
  @Option(text, 'Only actions of this key: its id, or its name at the time of the action.', 'ops')
  actor: string | undefined;

  @Option(oneOf(auditActions), 'Only this action.', 'key.create')
  action: AuditAction | undefined;

  @Option(text, 'Only actions on this target: an id, or the method and path of a refused call.')
  target: string | undefined;

  @Option(time, 'RFC 3339: only actions at this time or later.')
  after: number | undefined;

  @Option(time, 'RFC 3339: only actions before this time.')
  before: number | undefined;
}

const state = { type: 'object', additionalProperties: true, nullable: true } as const;

@ApiSchema({ name: 'AuditActor', description: 'The key behind the action, and where the call came from.' })
class AuditActorDto {
  @Field(
    'The id of the key; null: there was none, for example at a failed sign-in or on the command line.',
    exampleId,
    idOrNull,
  )
  key_id!: string | null;
  @Field('The name of the key at the time of the action.', 'ops') name!: string;
  @Field('The session that stood for the key; null: the call brought the key itself.', exampleId, idOrNull)
  session_id!: string | null;
  @Field('The address of the caller.', '192.0.2.7', textOrNull) address!: string | null;
  @Field('The `User-Agent` of the call.', 'curl/8.5.0', textOrNull) user_agent!: string | null;
}

@ApiSchema({ name: 'AuditEntry', description: 'An action of an operator, or a call that was refused.' })
export class AuditEntryDto {
  @Field('The id of the entry; later entries have greater ids.', exampleId, { format: 'uuid' }) id!: string;
  @Field('The time of the action, in UTC.', '2026-03-01T12:00:00.000Z', { type: String, format: 'date-time' })
  at!: string;
  @Field('The action.', 'key.create', { enum: auditActions }) action!: AuditAction;
  @Field('The target of the action: an id, or the method and path of a refused call.', exampleId, textOrNull)
  target!: string | null;
  @ApiProperty({ description: 'The key behind the action.', type: AuditActorDto }) actor!: AuditActorDto;
  @Field('The `X-Request-Id` of the call.', '6a1f0f0e-5b0d-4a53-9b77-6d1f6f4f2c55', textOrNull)
  http_request_id!: string | null;
  @Field('The changed fields before the action.', { weight: 1 }, state) before!: object | null;
  @Field('The changed fields after the action, or its details.', { weight: 2 }, state) after!: object | null;
  @Field('The reason that the caller gave.', 'web shop pays for it', textOrNull) reason!: string | null;
}

@ApiSchema({ name: 'AuditPage', description: 'A page of the audit, newest first.' })
export class AuditPageDto extends PageDto {
  @ApiProperty({ description: 'The entries of the page.', type: [AuditEntryDto] }) data!: AuditEntryDto[];
}
