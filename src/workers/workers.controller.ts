import { Controller, Delete, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { BodyReader } from '../http/body-reader.js';
import { ClientAddress } from '../http/client-address.js';
import { Limited } from '../limits/limited.js';
import { waitSeconds } from '../http/input/prefer.js';
import { ApiBeat, ApiClaimRuns, ApiLeaveWorker } from './openapi.js';
import { maxBeatSeconds, maxClaimSeconds, WorkerCalls } from './worker-calls.js';

export const ofWorkers = { needsKey: true, isUncounted: true };

@ApiTags('Workers')
@Controller('v1/worker')
export class WorkersController {
  constructor(
    private readonly calls: WorkerCalls,
    private readonly bodies: BodyReader,
    private readonly addresses: ClientAddress,
  ) {}

  @Post('claims')
  @ApiClaimRuns()
  @Limited('work', ofWorkers)
  async claimRuns(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const seconds = waitSeconds(request.headers.prefer, maxClaimSeconds);
    const base = this.addresses.baseUrl(request);
    const body = await this.bodies.read(request, response);
    await this.calls.claim(caller, body, seconds, base, response);
  }

  @Post('beats')
  @ApiBeat()
  @Limited('work', ofWorkers)
  async beat(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const seconds = waitSeconds(request.headers.prefer, maxBeatSeconds);
    await this.calls.beat(caller, await this.bodies.read(request, response), seconds, response);
  }

  @Delete('workers/:worker_id')
  @HttpCode(204)
  @ApiLeaveWorker()
  @Limited('work', ofWorkers)
  leaveWorker(@CurrentCaller() caller: Caller, @Param('worker_id') workerId: string): Promise<void> {
    return this.calls.leave(caller, workerId);
  }
}
