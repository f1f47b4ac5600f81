import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** How many runs of a model at once one node may have, of those that the fleet may have. */
@Entity('slot_grant')
@Check('slot_grant_slots_is_not_negative', 'slots >= 0')
export class SlotGrantEntity {
  @PrimaryColumn({ name: 'model_id', type: 'text', primaryKeyConstraintName: 'slot_grant_pkey' })
  modelId!: string;

  @PrimaryColumn({ name: 'node_id', type: 'uuid', primaryKeyConstraintName: 'slot_grant_pkey' })
  nodeId!: string;

  @Column({ type: 'integer' })
  slots!: number;
}
