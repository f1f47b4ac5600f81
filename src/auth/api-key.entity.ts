import { Check, Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { Priority, Scope } from './caller.js';

/** One key as the database keeps it. The secret itself is stored nowhere. */
@Entity('api_key')
@Unique('api_key_hash_is_unique', ['hash'])
@Unique('api_key_subject_is_unique', ['subject'])
@Index('api_key_by_bounded_at', ['boundedAt'], { where: 'bounded_at IS NOT NULL' })
@Check('api_key_hash_is_sha256', `octet_length(hash) = 32`)
@Check('api_key_max_priority_is_known', `max_priority IN ('high', 'normal', 'low')`)
@Check('api_key_max_waiting_is_positive', `max_waiting > 0`)
@Check('api_key_max_running_is_positive', `max_running > 0`)
@Check('api_key_weight_is_sane', `weight BETWEEN 0.01 AND 1000`)
@Check(
  'api_key_scopes_are_known',
  `scopes <@ ARRAY['submit', 'read', 'cancel', 'work', 'observe', 'payloads', 'admin']`,
)
export class ApiKey {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'api_key_pkey' }) id!: string;
  @Column('text') name!: string;
  /** Its first characters, by which people recognise it. */
  @Column('text') prefix!: string;
  @Column('bytea', { select: false }) hash!: Buffer;
  /** Issuer and subject of a person who signs in by OpenID Connect; null: it is a key that somebody holds. */
  @Column('text', { nullable: true }) subject!: string | null;
  @Column('text', { array: true }) scopes!: Scope[];
  /** Model ids and `prefix/*` patterns; null: all models. */
  @Column('text', { array: true, nullable: true }) models!: string[] | null;
  /** Limits as in RATE_LIMIT_SUBMIT; null: the service's own limits. */
  @Column('text', { name: 'rate_limit_submit', nullable: true }) rateLimitSubmit!: string | null;
  @Column('text', { name: 'rate_limit_other', nullable: true }) rateLimitOther!: string | null;
  @Column('text', { name: 'rate_limit_batch', nullable: true }) rateLimitBatch!: string | null;
  /** The highest priority of its requests; null: high. */
  @Column('text', { name: 'max_priority', nullable: true }) maxPriority!: Priority | null;
  /** At most this many of its requests may wait; null: any number. */
  @Column('integer', { name: 'max_waiting', nullable: true }) maxWaiting!: number | null;
  /** At most this many of its requests for one model may run at once; null: any number. */
  @Column('integer', { name: 'max_running', nullable: true }) maxRunning!: number | null;
  /** The time at which `maxRunning` was last changed. */
  @Column('timestamptz', { name: 'bounded_at', nullable: true }) boundedAt!: Date | null;
  /** The weight of its turns where keys share a model. */
  @Column('double precision', { default: 1 }) weight!: number;
  @Column('timestamptz', { name: 'created_at', default: () => 'now()' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
  @Column('timestamptz', { name: 'revoked_at', nullable: true }) revokedAt!: Date | null;
  @Column('timestamptz', { name: 'last_used_at', nullable: true }) lastUsedAt!: Date | null;
}
