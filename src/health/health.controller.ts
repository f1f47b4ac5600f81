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
    summary: 'Does the process answer?',
    description: 'The check touches nothing else. If it fails, restart the process.',
    security: [],
  })
  @ApiOkResponse({ description: 'The process answers.', type: LivenessDto })
  readLiveness(): LivenessDto {
    return { status: 'ok' };
  }

  @Get('ready')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    summary: 'Can the service take requests?',
    description:
      'The call checks that the database answers within two seconds, that its schema is up to date, and that ' +
      'this node and the others keep files in the same place. It also checks that the disk of the database ' +
      'accepts writes, and that the service is not shutting down. A check that takes longer than two seconds ' +
      'has failed. If a check fails, the answer is 503, and `checks` names it.',
    security: [],
  })
  @ApiOkResponse({ description: 'The service can take requests.', type: ReadinessDto })
  @ApiProblems('unavailable')
  readReadiness(): Promise<ReadinessDto> {
    return this.readiness.check();
  }
}
