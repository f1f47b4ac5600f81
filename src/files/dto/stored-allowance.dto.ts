import { ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { count } from '../../http/openapi/schemas.js';

@ApiSchema({ name: 'StoredAllowance', description: 'The files of the key, and how many it may have.' })
export class StoredAllowanceDto {
  @Field('The stored bytes of its files, including files that its requests made.', 48_213, count)
  bytes!: number;
  @Field('The number of its files, including those that are announced but not uploaded yet.', 3, count)
  files!: number;
  @Field(
    'The maximum of stored bytes. At the maximum, further uploads are answered 507 `storage_full`.',
    20 * 1024 ** 3,
    count,
  )
  max_bytes!: number;
  @Field(
    'The maximum of files. At the maximum, further uploads are answered 507 `storage_full`.',
    100_000,
    count,
  )
  max_files!: number;
}
