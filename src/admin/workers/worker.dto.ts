import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { count, cursorText, KeyNameDto, textOrNull, time, timeOrNull } from '../requests/dto.js';

export const workerStates = ['ready', 'resting', 'draining', 'stopping', 'away'] as const;
export type WorkerState = (typeof workerStates)[number];

@ApiSchema({ name: 'AdminWorker', description: 'What claims runs over HTTP, as operators see it.' })
export class AdminWorkerDto {
  @Field('Its name for `/v1/admin/workers`; the same after a restart.', exampleId, { format: 'uuid' })
  uid!: string;
  @Field('As it calls itself under its key.', 'gpu-box-1') id!: string;
  @Field('For people.', 'gpu-box-1') name!: string;
  @ApiProperty({ description: 'Its key.', type: KeyNameDto }) key!: KeyNameDto;
  @Field('Of its program, as it says.', '1.2.0') version!: string;
  @ApiProperty({
    description: 'As it says.',
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { gpu: 'L4' },
  })
  labels!: Record<string, string>;
  @ApiProperty({ description: 'That it claims runs of.', type: [String], example: ['acme/image/upscale'] })
  models!: string[];
  @Field(
    '`resting`: its last runs failed, so it claims nothing for a while. `draining`, `stopping`: it was told so. ' +
      '`away`: without a call for half a minute.',
    'ready',
    { enum: workerStates },
  )
  state!: WorkerState;
  @Field('What it says itself of its state; often nothing.', '') says!: string;
  @Field('How many runs it has.', 1, count) running!: number;
  @Field('When it was last known to be there; up to 20 s old.', '2026-03-01T12:00:00.000Z', time)
  seen_at!: string;
  @Field('How many of its last runs failed, one after the other.', 0, count) failures_in_row!: number;
  @Field('Until when it claims nothing; null: it may now.', null, timeOrNull) resting_until!: string | null;
}

@ApiSchema({ name: 'AdminWorkerPage', description: 'Workers, by name.' })
export class AdminWorkerPageDto {
  @ApiProperty({ description: 'Those that were there within a week.', type: [AdminWorkerDto] })
  data!: AdminWorkerDto[];
  @Field(cursorText, null, textOrNull) next_cursor!: string | null;
}

@ApiSchema({ name: 'ToldWorker', description: 'A worker, and what it is told.' })
export class ToldWorkerDto {
  @Field('Its name for `/v1/admin/workers`.', exampleId, { format: 'uuid' }) uid!: string;
  @Field('For people.', 'gpu-box-1') name!: string;
  @Field('To go on, to end what it has and claim nothing, or to end.', 'drain', {
    enum: ['run', 'drain', 'stop'],
  })
  told!: string;
}
