import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { priorities, type Priority } from '../../auth/caller.js';
import type { BatchCounts, BatchStatus } from '../../batches/batch.js';
import { batchStatuses } from '../../batches/batch.js';
import { BatchCountsDto } from '../../batches/dto/batches.dto.js';
import { Option } from '../../http/input/option.js';
import { PageQuery } from '../../http/input/page.js';
import { oneOf, uuid } from '../../http/input/rules.js';
import { PageDto } from '../../http/openapi/page.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { count, exampleTime, textOrNull, time, timeOrNull } from '../../http/openapi/schemas.js';
import { tag } from '../../requests/dto/submit.query.js';
import { KeyNameDto } from '../keys/key-name.dto.js';

/** The filters of a list of batches. */
export class AdminBatchesQuery extends PageQuery {
  @Option(oneOf(batchStatuses), 'Only batches with this status.', 'in_progress')
  status: BatchStatus | undefined;
  @Option(uuid, 'Only batches of this key.')
  key_id: string | undefined;
  @Option(tag, 'Only batches with this tag.', 'book:7')
  tag: string | undefined;
}

@ApiSchema({ name: 'AdminBatchFault', description: 'A line that keeps its batch from starting.' })
export class AdminBatchFaultDto {
  @Field('The number of the line in the input, from 1 on; null: the whole input is at fault.', 3, {
    type: 'integer',
    nullable: true,
  })
  line!: number | null;
  @Field('The stable name of the kind of problem.', 'bad_request')
  code!: string;
  @Field(
    'A description of the problem, which may quote the line; null without the scope `payloads`.',
    'A line needs a "custom_id", a text.',
    textOrNull,
  )
  message!: string | null;
}

@ApiSchema({ name: 'AdminBatch', description: 'A batch of any key at one moment. Its counts are exact.' })
export class AdminBatchDto {
  @Field('The id of the batch. Its requests have the tag `batch:<batch_id>`.', exampleId, { format: 'uuid' })
  batch_id!: string;
  @Field('Its status, as its caller sees it.', 'in_progress', { enum: [...batchStatuses] })
  status!: BatchStatus;
  @ApiProperty({ description: 'The key that made the batch.', type: KeyNameDto })
  key!: KeyNameDto;
  @Field('The API that made it: `own`, or the name of an adapter.', 'own')
  format!: string;
  @Field('The model of lines that name none.', 'demo/text/echo', textOrNull)
  model_id!: string | null;
  @Field('Its tag.', null, textOrNull)
  tag!: string | null;
  @Field('The priority of its requests.', 'low', { enum: [...priorities] })
  priority!: Priority;
  @Field('The time at which it was made.', exampleTime, time)
  created_at!: string;
  @Field('The time at which its input was found to be valid.', exampleTime, timeOrNull)
  started_at!: string | null;
  @Field('The time at which a call cancelled it.', null, timeOrNull)
  cancelling_at!: string | null;
  @Field('The time at which it ended.', null, timeOrNull)
  ended_at!: string | null;
  @Field('The time at which lines that are not done expire.', '2026-03-02T12:00:00.000Z', time)
  expires_at!: string;
  @ApiProperty({ description: 'Its lines, by what has become of them.', type: BatchCountsDto })
  counts!: BatchCounts;
  @ApiProperty({
    description: 'Why it failed: at most the first hundred faults.',
    type: [AdminBatchFaultDto],
  })
  errors!: AdminBatchFaultDto[];
  @Field('The bytes of its output that are stored so far.', 482_130, count)
  output_bytes!: number;
  @Field('The bytes of its errors that are stored so far.', 0, count)
  error_bytes!: number;
}

@ApiSchema({ name: 'AdminBatchPage', description: 'A page of batches of all keys.' })
export class AdminBatchPageDto extends PageDto {
  @ApiProperty({ description: 'The batches, newest first.', type: [AdminBatchDto] })
  data!: AdminBatchDto[];
}
