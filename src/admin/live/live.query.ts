import { ApiProperty } from '@nestjs/swagger';
import { CursorOption, LimitOption } from '../../http/input/page.js';
import { Option } from '../../http/input/option.js';
import { text } from '../../http/input/values.js';

export const queueLimits = { most: 500, default: 100 };

/** The model whose shares are asked for. */
export class SharesQuery {
  @ApiProperty({ required: true })
  @Option('model', text, 'The id of the model.', 'demo/image/fractal')
  model: string | undefined;
}

/** The model whose queue is asked for, and the page. */
export class QueueQuery extends SharesQuery {
  @LimitOption(queueLimits) limit: number | undefined;
  @CursorOption() cursor: string | undefined;
}
