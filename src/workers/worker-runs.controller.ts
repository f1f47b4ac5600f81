import { Controller, Get, HttpCode, Post, Put, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type InitiatedUploadDto, NewUploadDto } from '../files/dto/files.dto.js';
import { Uploads } from '../files/uploads.js';
import { BaseUrl, Bytes, JsonBody, KnownOptions } from '../http/input/decorators.js';
import { sendReply } from '../http/reply.js';
import type { LeaseName } from '../queue/workers/lease.js';
import { EventsQuery, type EventsTakenDto, WorkerFailureDto, WorkerReleaseDto } from './dto.js';
import { Lease, OfRun } from './lease.decorator.js';
import {
  ApiAppendRunEvents,
  ApiInitiateRunFile,
  ApiPutFailure,
  ApiPutOutput,
  ApiReadRunInput,
  ApiReleaseRun,
} from './openapi.js';
import { WorkerRunCalls } from './worker-run-calls.js';

@ApiTags('Workers')
@Controller('v1/worker/runs/:request_id')
export class WorkerRunsController {
  constructor(
    private readonly calls: WorkerRunCalls,
    private readonly uploads: Uploads,
  ) {}

  @Get('input')
  @ApiReadRunInput
  @OfRun()
  async readRunInput(@Lease() lease: LeaseName, @Res() response: Response): Promise<void> {
    sendReply(response, { status: 200, body: await this.calls.input(lease, response.req) });
  }

  @Post('events')
  @HttpCode(202)
  @ApiAppendRunEvents
  @OfRun()
  appendRunEvents(
    @Lease() lease: LeaseName,
    @KnownOptions(EventsQuery) { from }: EventsQuery,
    @Bytes() body: Buffer,
  ): Promise<EventsTakenDto> {
    return this.calls.append(lease, from, body);
  }

  @Put('output')
  @ApiPutOutput
  @OfRun()
  async putOutput(@Lease() lease: LeaseName, @Bytes('maxOutputBytes') body: Buffer): Promise<object> {
    await this.calls.succeed(lease, body);
    return {};
  }

  @Put('failure')
  @ApiPutFailure
  @OfRun()
  async putFailure(
    @Lease() lease: LeaseName,
    @JsonBody(WorkerFailureDto) failure: WorkerFailureDto,
  ): Promise<object> {
    await this.calls.fail(lease, failure);
    return {};
  }

  @Post('files')
  @HttpCode(200)
  @ApiInitiateRunFile
  @OfRun()
  async initiateRunFile(
    @Lease() lease: LeaseName,
    @JsonBody(NewUploadDto) upload: NewUploadDto,
    @BaseUrl() base: string,
  ): Promise<InitiatedUploadDto> {
    await this.calls.renew(lease);
    return this.uploads.initiate({ requestId: lease.id }, upload, base);
  }

  @Post('release')
  @HttpCode(204)
  @ApiReleaseRun
  @OfRun()
  releaseRun(
    @Lease() lease: LeaseName,
    @JsonBody(WorkerReleaseDto, { mayBeLeftOut: true }) release: WorkerReleaseDto,
  ): Promise<void> {
    return this.calls.release(lease, release);
  }
}
