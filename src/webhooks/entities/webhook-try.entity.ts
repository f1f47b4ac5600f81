import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** One call of a receiver, and what it answered. */
@Entity('webhook_try')
@Check('webhook_try_has_an_answer_or_an_error', '(status IS NULL) = (error IS NOT NULL)')
export class WebhookTryEntity {
  @PrimaryColumn('uuid') deliveryId!: string;
  /** 1 for the first. */
  @PrimaryColumn('integer') number!: number;
  @Column('timestamptz') at!: Date;
  /** null: there was no answer. */
  @Column('integer', { nullable: true }) status!: number | null;
  @Column('integer') durationMs!: number;
  /** The first KiB of the answer. */
  @Column('text', { nullable: true }) body!: string | null;
  @Column('text', { nullable: true }) error!: string | null;
}
