import { Controller, Get, Header, Res, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { ApiProblems } from '../http/openapi/operations.js';
import { Exposition } from './exposition.js';
import { MetricsAccessGuard } from './metrics-access.guard.js';

@ApiTags('Health')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly exposition: Exposition) {}

  @Get()
  @Header('Cache-Control', 'no-store')
  @UseGuards(MetricsAccessGuard)
  @ApiOperation({
    summary: 'Metrics for Prometheus',
    description:
      'The answer has the Prometheus text format 0.0.4. The call needs a key with the scope `observe`, unless ' +
      'the service was started with `METRICS_ACCESS=open`. Metrics that begin with `nowserving_cluster_` ' +
      'describe all nodes and are the same on each node; aggregate them with `max`. All others describe the ' +
      'node that answers; aggregate them with `sum`.',
  })
  @ApiSecurity({})
  @ApiSecurity('key')
  @ApiSecurity('bearer')
  @ApiProduces('text/plain')
  @ApiOkResponse({ description: 'All metrics of this node.', schema: { type: 'string' } })
  @ApiProblems('missing_key', 'invalid_key', 'forbidden')
  async readMetrics(@Res() response: Response): Promise<void> {
    const text = await this.exposition.read();
    response.setHeader('Content-Type', this.exposition.contentType);
    response.send(text);
  }
}
