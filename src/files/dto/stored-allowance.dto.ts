import { ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';

const count = { type: 'integer', minimum: 0 } as const;

@ApiSchema({ name: 'StoredAllowance', description: 'The files of the key, and how many it may have.' })
export class StoredAllowanceDto {
  @Field('Bytes of its files that are stored, and of what its requests made.', 48_213, count)
  bytes!: number;
  @Field('Its files, with those that were initiated and are still to come.', 3, count)
  files!: number;
  @Field('With so many bytes it may upload no more: 507 `storage_full`.', 20 * 1024 ** 3, count)
  max_bytes!: number;
  @Field('With so many files it may upload no more.', 100_000, count)
  max_files!: number;
}
