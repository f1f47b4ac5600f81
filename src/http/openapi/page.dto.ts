import { ApiOkResponse } from '@nestjs/swagger';
import type { Class } from '../../tools/validation.js';
import { Field } from './problem.dto.js';
import { headerReferences } from './responses.js';

/** The part that all pages of lists have. */
export class PageDto {
  @Field('The `cursor` of the next page; null: this is the last page.', null, {
    type: String,
    nullable: true,
  })
  next_cursor!: string | null;
}

/** A list that is answered in pages of this class. */
export const ApiPage = (type: Class<PageDto>): MethodDecorator =>
  ApiOkResponse({ description: 'A page.', headers: headerReferences(['Link']), type });
