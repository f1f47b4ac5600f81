import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { AuditAction } from '../audit-actions.js';

/** Who did what, when, from where. Rows are never changed. */
@Entity('audit_entry')
@Index('audit_entry_by_target', ['target', 'id'])
@Index('audit_entry_by_actor', ['actorKeyId', 'id'])
@Index('audit_entry_by_action', ['action', 'id'])
export class AuditEntryEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'audit_entry_pkey' }) id!: string;
  @Column('timestamptz', { default: () => 'now()' }) at!: Date;
  @Column('text') action!: AuditAction;
  @Column('text', { nullable: true }) target!: string | null;
  @Column('uuid', { name: 'actor_key_id', nullable: true }) actorKeyId!: string | null;
  @Column('text', { name: 'actor_name' }) actorName!: string;
  @Column('uuid', { name: 'session_id', nullable: true }) sessionId!: string | null;
  @Column('text', { nullable: true }) address!: string | null;
  @Column('text', { name: 'user_agent', nullable: true }) userAgent!: string | null;
  @Column('text', { name: 'http_request_id', nullable: true }) httpRequestId!: string | null;
  @Column('jsonb', { nullable: true }) before!: object | null;
  @Column('jsonb', { nullable: true }) after!: object | null;
  @Column('text', { nullable: true }) reason!: string | null;
}
