import { ApiOkResponse } from '@nestjs/swagger';
import type { ProblemCode } from '../../errors/problem-codes.js';
import type { Class } from '../../tools/validation.js';
import { ApiCall, ApiProblems } from './operations.js';
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

/** A call that lists something, in pages of this class. `codes`: its problems, besides that of a wrong option. */
export const ApiList = (
  summary: string,
  description: string,
  type: Class<PageDto>,
  ...codes: ProblemCode[]
): MethodDecorator => ApiCall(summary, description, ApiPage(type), ApiProblems(...codes, 'invalid_query'));

/** An answer with a page of this class. */
export const ApiPage = (type: Class<PageDto>): MethodDecorator =>
  ApiOkResponse({ description: 'A page.', headers: headerReferences(['Link']), type });
