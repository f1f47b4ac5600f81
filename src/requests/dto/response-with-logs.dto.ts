import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { FinalMetricsDto, LogEntryDto } from './status.dto.js';

@ApiSchema({
  name: 'ResponseWithLogs',
  description: 'The response of a request with what there is to say about it.',
})
export class ResponseWithLogsDto {
  @ApiProperty({
    description: 'The request.',
    format: 'uuid',
    example: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
  })
  request_id!: string;

  @ApiProperty({ description: 'The state.', enum: ['COMPLETED'], example: 'COMPLETED' })
  status!: string;

  @ApiProperty({
    description: 'The model’s output, as any JSON value.',
    allOf: [{ $ref: '#/components/schemas/JsonValue' }],
    example: { image: { url: 'data:image/png;base64,…', width: 512, height: 512 }, seed: 7 },
  })
  response!: unknown;

  @ApiProperty({ description: 'Oldest first.', type: [LogEntryDto] })
  logs!: LogEntryDto[];

  @ApiProperty({ description: 'What was measured.', type: FinalMetricsDto })
  metrics!: FinalMetricsDto;
}
