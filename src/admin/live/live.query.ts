import { RequiredOption } from '../../http/input/option.js';
import { CursorOption, LimitOption, type ListOptions } from '../../http/input/page.js';
import { rule, text } from '../../http/input/rules.js';

const modelId = rule(text.schema, (value) => {
  if (value !== undefined) return text.read(value);
  throw new Error('expected the id of a model, as in "?model=demo/image/fractal"');
});

/** The model whose shares are asked for. */
export class SharesQuery {
  @RequiredOption(modelId, 'The id of the model.', 'demo/image/fractal')
  model!: string;
}

/** The model whose queue is asked for, and the page. */
export class QueueQuery extends SharesQuery implements ListOptions {
  @LimitOption(500, 100) limit = 100;
  @CursorOption() cursor: string | undefined;
}
