import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'Liveness', description: 'The process answers.' })
export class LivenessDto {
  @ApiProperty({
    description: 'Always `ok`, because the answer itself is the result.',
    enum: ['ok'],
    example: 'ok',
  })
  status!: string;
}

@ApiSchema({ name: 'ReadinessCheck', description: 'A check of readiness.' })
export class ReadinessCheckDto {
  @ApiProperty({ description: 'The result of the check.', enum: ['up', 'down'], example: 'up' })
  status!: string;
}

@ApiSchema({ name: 'ReadinessChecks', description: 'All checks of readiness.' })
export class ReadinessChecksDto {
  @ApiProperty({ description: 'The database answers within two seconds.', type: ReadinessCheckDto })
  database!: ReadinessCheckDto;

  @ApiProperty({ description: 'The schema is the one that this version needs.', type: ReadinessCheckDto })
  migrations!: ReadinessCheckDto;

  @ApiProperty({
    description: 'This node can read the stored files, or there are none. The disk of DATA_DIR answers.',
    type: ReadinessCheckDto,
  })
  files!: ReadinessCheckDto;

  @ApiProperty({
    description:
      'The disk of the database accepts writes, and that of an embedded database has enough free space.',
    type: ReadinessCheckDto,
  })
  storage!: ReadinessCheckDto;

  @ApiProperty({ description: 'The service is not shutting down.', type: ReadinessCheckDto })
  accepting!: ReadinessCheckDto;
}

@ApiSchema({ name: 'Readiness', description: 'The service can take requests.' })
export class ReadinessDto {
  @ApiProperty({
    description: 'Always `ok`. A service that is not ready answers 503.',
    enum: ['ok'],
    example: 'ok',
  })
  status!: string;

  @ApiProperty({ description: 'The checks.', type: ReadinessChecksDto })
  checks!: ReadinessChecksDto;

  @ApiPropertyOptional({
    description:
      'Faults that do not prevent requests, for example that no node runs them. Absent: there are none.',
    type: [String],
    example: [
      'No node runs requests, so they wait. Start one with ROLE=all or ROLE=scheduler, or end a drain.',
    ],
  })
  notes?: string[];
}
