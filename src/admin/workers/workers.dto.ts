import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { PageDto } from '../../http/openapi/page.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { KeyNameDto } from '../keys/key-name.dto.js';
import { count, time, timeOrNull } from '../../http/openapi/schemas.js';

export const workerStates = ['ready', 'resting', 'stuck', 'draining', 'stopping', 'away'] as const;
export type WorkerState = (typeof workerStates)[number];

@ApiSchema({ name: 'AdminWorker', description: 'A program that claims runs over HTTP, as operators see it.' })
export class AdminWorkerDto {
  @Field('The name of the worker in `/v1/admin/workers`. It stays the same after a restart.', exampleId, {
    format: 'uuid',
  })
  uid!: string;
  @Field('The id that the worker gives itself. It is unique within its key.', 'gpu-box-1') id!: string;
  @Field('The name of the worker, for people.', 'gpu-box-1') name!: string;
  @ApiProperty({ description: 'The key of the worker.', type: KeyNameDto }) key!: KeyNameDto;
  @Field('The version of its program, as the worker reports it.', '1.2.0') version!: string;
  @ApiProperty({
    description: 'The labels that the worker reports.',
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { gpu: 'L4' },
  })
  labels!: Record<string, string>;
  @ApiProperty({
    description: 'The models whose runs it claims.',
    type: [String],
    example: ['acme/image/upscale'],
  })
  models!: string[];
  @Field(
    '`resting`: its last runs failed, so it claims nothing for a while. `stuck`: it does not return from a run ' +
      'that is over, so it claims nothing. `draining`, `stopping`: an operator ordered that. `away`: it has made no call for 30 s.',
    'ready',
    { enum: workerStates },
  )
  state!: WorkerState;
  @Field('The state that the worker itself reports; often empty.', '') says!: string;
  @Field('The number of its current runs.', 1, count) running!: number;
  @Field('The time at which it was last seen, up to 20 s old.', '2026-03-01T12:00:00.000Z', time)
  seen_at!: string;
  @Field('The number of its latest runs that failed in a row.', 0, count) failures_in_row!: number;
  @Field('The time until which it claims nothing; null: it may claim now.', null, timeOrNull) resting_until!:
    string | null;
}

@ApiSchema({ name: 'AdminWorkerPage', description: 'Workers, by name.' })
export class AdminWorkerPageDto extends PageDto {
  @ApiProperty({ description: 'The workers that were seen within a week.', type: [AdminWorkerDto] })
  data!: AdminWorkerDto[];
}

@ApiSchema({ name: 'ToldWorker', description: 'A worker, and the order of an operator.' })
export class ToldWorkerDto {
  @Field('The name of the worker in `/v1/admin/workers`.', exampleId, { format: 'uuid' }) uid!: string;
  @Field('The name of the worker, for people.', 'gpu-box-1') name!: string;
  @Field(
    'The order. `run`: continue. `drain`: finish the current runs and claim nothing more. `stop`: end.',
    'drain',
    {
      enum: ['run', 'drain', 'stop'],
    },
  )
  told!: string;
}
