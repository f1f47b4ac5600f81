import { Controller, Delete, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { BaseUrl, JsonBody, WaitSeconds } from '../http/input/decorators.js';
import { Limited } from '../limits/limited.js';
import { BeatDto, ClaimDto, WorkerLeaveDto } from './dto.js';
import { ApiBeat, ApiClaimRuns, ApiLeaveWorker } from './openapi.js';
import { maxBeatSeconds, maxClaimSeconds, WorkerCalls } from './worker-calls.js';

export const ofWorkers = { needsKey: true, isUncounted: true };

@ApiTags('Workers')
@Controller('v1/worker')
export class WorkersController {
  constructor(private readonly calls: WorkerCalls) {}

  @Post('claims')
  @ApiClaimRuns
  @Limited('work', ofWorkers)
  claimRuns(
    @CurrentCaller() caller: Caller,
    @JsonBody(ClaimDto) claim: ClaimDto,
    @WaitSeconds(maxClaimSeconds) seconds: number,
    @BaseUrl() base: string,
    @Res() response: Response,
  ): Promise<void> {
    return this.calls.claim(caller, claim, seconds, base, response);
  }

  @Post('beats')
  @ApiBeat
  @Limited('work', ofWorkers)
  sendBeat(
    @CurrentCaller() caller: Caller,
    @JsonBody(BeatDto) beat: BeatDto,
    @WaitSeconds(maxBeatSeconds) seconds: number,
    @Res() response: Response,
  ): Promise<void> {
    return this.calls.beat(caller, beat, seconds, response);
  }

  @Delete('workers/:worker_id')
  @HttpCode(204)
  @ApiLeaveWorker
  @Limited('work', ofWorkers)
  leaveWorker(
    @CurrentCaller() caller: Caller,
    @Param('worker_id') workerId: string,
    @JsonBody(WorkerLeaveDto, { mayBeLeftOut: true }) leave: WorkerLeaveDto,
  ): Promise<void> {
    return this.calls.leave(caller, workerId, leave);
  }
}
