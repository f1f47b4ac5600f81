import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt } from 'class-validator';

export class StreamHeaders {
  @ApiPropertyOptional({
    type: String,
    description: 'The `id` of the last event that was received, such as `42`: the stream goes on from there.',
  })
  // What is no id of ours, the stream begins anew for, as for one of another request.
  @Transform(({ value }: { value: string }) => (/^\d{1,15}$/.test(value) ? Number(value) : undefined))
  @IsInt()
  'last-event-id': number | undefined;
}
