import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean } from 'class-validator';
import { problem } from '../../http/input/validated.js';

const words = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

export class LogsQuery {
  @ApiPropertyOptional({
    type: String,
    enum: ['0', '1', 'false', 'true'],
    default: '0',
    description:
      '`1` or `true` adds the log to a status and to the events of a stream. A response is then wrapped in an ' +
      'object with its log and metrics.',
  })
  @Transform(({ value }: { value: string }) => words.get(value) ?? 'neither')
  @IsBoolean({
    message: 'The query parameter "logs" takes 1, true, 0 or false, once.',
    ...problem('invalid_query'),
  })
  logs = false;
}
