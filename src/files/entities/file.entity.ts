import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

export type FileState = 'initiated' | 'stored' | 'removed';

/** A file that was uploaded, or will be. Its id is a random UUID, and the right to read it. */
@Entity('file')
@Index('file_by_expiry', ['expiresAt'], { where: '(expires_at IS NOT NULL)' })
@Index('file_kept', ['apiKeyId', 'createdAt', 'id'], { where: '(purpose IS NOT NULL)' })
@Index('file_removed', ['id'], { where: "(state = 'removed')" })
@Check('file_state_is_known', `state IN ('initiated', 'stored', 'removed')`)
@Check(
  'file_stored_has_content',
  `state <> 'stored' OR (upload IS NOT NULL AND size IS NOT NULL AND sha256 IS NOT NULL AND stored_at IS NOT NULL)`,
)
@Check('file_kept_for_a_purpose', '(purpose IS NULL) = (kept_until IS NULL)')
@Check('file_sizes_are_sane', 'size >= 0 AND octet_length(sha256) = 32 AND upload <= uploads')
export class FileEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') apiKeyId!: string;
  @Column('text') name!: string;
  @Column('text') contentType!: string;
  @Column('text', { default: 'initiated' }) state!: FileState;
  /** The number of tries to upload it. Each writes bytes of its own. */
  @Column('smallint', { default: 0 }) uploads!: number;
  /** The try whose bytes are those of the file. */
  @Column('smallint', { nullable: true }) upload!: number | null;
  @Column('bigint', { nullable: true }) size!: number | null;
  @Column('bytea', { nullable: true }) sha256!: Buffer | null;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) createdAt!: Date;
  @Column('timestamptz', { nullable: true }) storedAt!: Date | null;
  /** The time at which to check whether a request names it. null: a request does. */
  @Column('timestamptz', { nullable: true }) expiresAt!: Date | null;
  /** What its key keeps it for, whether a request names it or not. null: it is kept for requests only. */
  @Column('text', { nullable: true }) purpose!: string | null;
  /** The time until which its key keeps it; infinity: for ever. */
  @Column('timestamptz', { nullable: true }) keptUntil!: Date | number | null;
}
