import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A secret that the service made for itself, the same on every node. */
@Entity('service_secret')
export class ServiceSecretEntity {
  @PrimaryColumn('text', { primaryKeyConstraintName: 'service_secret_pkey' }) name!: string;
  @Column('bytea', { select: false }) value!: Buffer;
  @Column('timestamptz', { name: 'created_at', default: () => 'now()' }) createdAt!: Date;
}
