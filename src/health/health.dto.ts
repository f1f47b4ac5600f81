import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'Liveness', description: 'The process answers.' })
export class LivenessDto {
  @ApiProperty({ description: 'Always the same: an answer is the news.', enum: ['ok'], example: 'ok' })
  status!: string;
}

@ApiSchema({ name: 'ReadinessCheck', description: 'One thing that readiness depends on.' })
export class ReadinessCheckDto {
  @ApiProperty({ description: 'Whether it is as it should be.', enum: ['up', 'down'], example: 'up' })
  status!: string;
}

@ApiSchema({ name: 'ReadinessChecks', description: 'Everything that readiness depends on.' })
export class ReadinessChecksDto {
  @ApiProperty({ description: 'The database answers within two seconds.', type: ReadinessCheckDto })
  database!: ReadinessCheckDto;

  @ApiProperty({ description: 'The schema is the one this version needs.', type: ReadinessCheckDto })
  migrations!: ReadinessCheckDto;

  @ApiProperty({
    description: 'The files that there are can be read by this node, or there are none.',
    type: ReadinessCheckDto,
  })
  files!: ReadinessCheckDto;

  @ApiProperty({
    description: "The database's disk takes what is written, and the embedded one has room to go on.",
    type: ReadinessCheckDto,
  })
  storage!: ReadinessCheckDto;

  @ApiProperty({ description: 'The service is not shutting down.', type: ReadinessCheckDto })
  accepting!: ReadinessCheckDto;
}

@ApiSchema({ name: 'Readiness', description: 'The service can take requests.' })
export class ReadinessDto {
  @ApiProperty({ description: 'Anything else is a 503.', enum: ['ok'], example: 'ok' })
  status!: string;

  @ApiProperty({ description: 'What was looked at.', type: ReadinessChecksDto })
  checks!: ReadinessChecksDto;

  @ApiPropertyOptional({
    description: 'What is wrong although requests can be taken, as where no node runs them; absent: nothing.',
    type: [String],
    example: [
      'No node runs requests, so they wait. Start one with ROLE=all or ROLE=scheduler, or end a drain.',
    ],
  })
  notes?: string[];
}
