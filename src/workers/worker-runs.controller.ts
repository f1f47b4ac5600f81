import { Controller, Get, Headers, HttpCode, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { Config } from '../config/config.js';
import { DomainError } from '../errors/domain-error.js';
import { InitiatedUploadDto } from '../files/dto/files.dto.js';
import { UploadRequests } from '../files/upload-requests.js';
import { BodyReader } from '../http/body-reader.js';
import { sendReply } from '../http/reply.js';
import { Limited } from '../limits/limited.js';
import { leaseOf } from './lease-token.js';
import {
  ApiAppendRunEvents,
  ApiInitiateRunFile,
  ApiPutFailure,
  ApiPutOutput,
  ApiReadRunInput,
  ApiReleaseRun,
} from './openapi.js';
import { WorkerRunCalls } from './worker-run-calls.js';
import { ofWorkers } from './workers.controller.js';

const tokenHeader = 'lease-token';

@ApiTags('Workers')
@Controller('v1/worker/runs/:request_id')
export class WorkerRunsController {
  constructor(
    private readonly calls: WorkerRunCalls,
    private readonly bodies: BodyReader,
    private readonly uploads: UploadRequests,
    private readonly config: Config,
  ) {}

  @Get('input')
  @ApiReadRunInput()
  @Limited('work', ofWorkers)
  async readRunInput(
    @Param('request_id') id: string,
    @Headers(tokenHeader) token: string | undefined,
    @CurrentCaller() caller: Caller,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, { status: 200, body: await this.calls.input(leaseOf(caller, id, token)) });
  }

  @Post('events')
  @HttpCode(202)
  @ApiAppendRunEvents()
  @Limited('work', ofWorkers)
  async appendRunEvents(
    @Param('request_id') id: string,
    @Query('from') from: string | undefined,
    @Headers(tokenHeader) token: string | undefined,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<{ next: number; cancel: boolean }> {
    const lease = leaseOf(caller, id, token);
    const number = numberOf(from);
    return this.calls.append(lease, number, await this.bodies.read(request, response));
  }

  @Put('output')
  @ApiPutOutput()
  @Limited('work', ofWorkers)
  async putOutput(
    @Param('request_id') id: string,
    @Headers(tokenHeader) token: string | undefined,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const lease = leaseOf(caller, id, token);
    await this.calls.succeed(lease, await this.bodies.read(request, response, this.config.maxOutputBytes));
    return {};
  }

  @Put('failure')
  @ApiPutFailure()
  @Limited('work', ofWorkers)
  async putFailure(
    @Param('request_id') id: string,
    @Headers(tokenHeader) token: string | undefined,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const lease = leaseOf(caller, id, token);
    await this.calls.fail(lease, await this.bodies.read(request, response));
    return {};
  }

  @Post('files')
  @HttpCode(200)
  @ApiInitiateRunFile()
  @Limited('work', ofWorkers)
  async initiateRunFile(
    @Param('request_id') id: string,
    @Headers(tokenHeader) token: string | undefined,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<InitiatedUploadDto> {
    await this.calls.renew(leaseOf(caller, id, token));
    return this.uploads.initiateOf({ requestId: id }, request, response);
  }

  @Post('release')
  @HttpCode(204)
  @ApiReleaseRun()
  @Limited('work', ofWorkers)
  async releaseRun(
    @Param('request_id') id: string,
    @Headers(tokenHeader) token: string | undefined,
    @CurrentCaller() caller: Caller,
  ): Promise<void> {
    await this.calls.release(leaseOf(caller, id, token));
  }
}

function numberOf(text: string | undefined): number {
  if (text !== undefined && /^\d{1,9}$/.test(text)) return Number(text);
  throw new DomainError(
    'invalid_query',
    '"from" takes the number of the first event of the body, counted from 0 within the attempt.',
  );
}
