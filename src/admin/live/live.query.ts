import { ApiProperty } from '@nestjs/swagger';
import { CursorOption, LimitOption } from '../../requests/dto/list.query.js';
import { Option, text } from '../../requests/dto/submit.query.js';

export const queueLimits = { most: 500, default: 100 };

/** Whose shares. */
export class SharesQuery {
  @ApiProperty({ required: true })
  @Option('model', text, 'Its id.', 'demo/image/fractal')
  model: string | undefined;
}

/** A page of whose queue. */
export class QueueQuery extends SharesQuery {
  @LimitOption(queueLimits) limit: number | undefined;
  @CursorOption() cursor: string | undefined;
}
