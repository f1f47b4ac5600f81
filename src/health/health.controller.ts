import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiProblems } from '../http/openapi/operations.js';
import { LivenessDto, ReadinessDto } from './health.dto.js';
import { Readiness } from './readiness.js';

@ApiTags('Health')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    operationId: 'live',
    summary: 'Does the process answer?',
    description: 'Touches nothing else: if this fails, restart the process.',
    security: [],
  })
  @ApiOkResponse({ description: 'It does.', type: LivenessDto })
  live(): LivenessDto {
    return { status: 'ok' };
  }

  @Get('ready')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    operationId: 'ready',
    summary: 'Can the service take requests?',
    description:
      'The database is reached within two seconds, its schema is up to date, this node looks for files where the ' +
      'others keep them, the disk of the database takes what is written, and the service is not shutting down. ' +
      'If not, `checks` of the 503 says which.',
    security: [],
  })
  @ApiOkResponse({ description: 'It can.', type: ReadinessDto })
  @ApiProblems('unavailable')
  ready(): Promise<ReadinessDto> {
    return this.readiness.check();
  }
}
