import { ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { textOrNull } from '../../http/openapi/schemas.js';

@ApiSchema({ name: 'KeyName', description: 'The id and the name of a key.' })
export class KeyNameDto {
  @Field('The id of the key.', exampleId, { format: 'uuid' })
  id!: string;
  @Field('The name of the key; null: the key was deleted.', 'web shop', textOrNull)
  name!: string | null;
}
