import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type BatchStatus, batchStatuses } from '../../batches/batch.js';
import { BatchFactsDto, BatchFaultPlaceDto } from '../../batches/dto/batches.dto.js';
import { Option } from '../../http/input/option.js';
import { PageQuery } from '../../http/input/page.js';
import { oneOf, uuid } from '../../tools/rules.js';
import { PageDto } from '../../http/openapi/page.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { count, textOrNull, timeOrNull } from '../../http/openapi/schemas.js';
import { tag } from '../../queue/submit/tags.js';
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
export class AdminBatchFaultDto extends BatchFaultPlaceDto {
  @Field(
    'A description of the problem, which may quote the line; null without the scope `payloads`.',
    'A line needs a "custom_id", a text.',
    textOrNull,
  )
  message!: string | null;
}

@ApiSchema({ name: 'AdminBatch', description: 'A batch of any key at one moment. Its counts are exact.' })
export class AdminBatchDto extends BatchFactsDto {
  @ApiProperty({ description: 'The key that made the batch.', type: KeyNameDto })
  key!: KeyNameDto;
  @Field('The API that made it: `own`, or the name of an adapter.', 'own')
  format!: string;
  @Field('The time at which a call cancelled it.', null, timeOrNull)
  cancelling_at!: string | null;
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
