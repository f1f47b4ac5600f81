import { BodySchema } from '../http/input/body.js';
import { JsonBody } from '../http/input/decorators.js';
import { Option } from '../http/input/option.js';
import { rule } from '../tools/rules.js';
import { isStorable } from '../tools/storable-text.js';

const maxLength = 500;
const example = 'asked for by its owner';

const reason = rule({ type: String, maxLength, nullable: true }, (value) => {
  if (value === null || value === '') return undefined;
  if (typeof value === 'string' && value.length <= maxLength && isStorable(value)) return value;
  throw new Error(`expected a text of at most ${maxLength} characters`);
});

/** The member of a body with the reason of an operator. */
export const ReasonOption = () => Option(reason, 'The reason, for the audit.', example);

@BodySchema({
  name: 'Reason',
  description: 'A reason for the audit.',
  examples: { reason: { reason: example } },
})
class ReasonDto {
  @ReasonOption() reason: string | undefined;
}

/** The reason of an operator, where the body has nothing else. The body may be left out, also in a DELETE. */
export const Reason = (): ParameterDecorator =>
  JsonBody(ReasonDto, { mayBeLeftOut: true }, { transform: (body: ReasonDto) => body.reason });
