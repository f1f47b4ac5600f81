import { Controller, Get, HttpCode, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { DomainError } from '../errors/domain-error.js';
import { chargesOf } from '../http/charges.js';
import { askForBody } from '../http/body-reader.js';
import { BaseUrl, JsonBody } from '../http/input/decorators.js';
import { type InitiatedUploadDto, NewUploadDto, type StoredFileDto } from './dto/files.dto.js';
import { Files } from './files.js';
import { ApiFile, ApiInitiate, ApiUpload } from './openapi/operations.js';
import { MayUpload } from './may-upload.js';
import { sendFile } from './send-file.js';
import { uploadBytes } from './stores/spool.js';
import { giveUpUpload } from './upload-body.js';
import { Uploads } from './uploads.js';

/** Uploads as fal's clients make them, and the files themselves. */
@ApiTags('Files')
@Controller('v1')
export class FilesController {
  constructor(
    private readonly uploads: Uploads,
    private readonly files: Files,
  ) {}

  @Post('storage/upload/initiate')
  @HttpCode(200)
  @ApiInitiate
  @MayUpload()
  initiateUpload(
    @CurrentCaller() { keyId }: Caller,
    @JsonBody(NewUploadDto) upload: NewUploadDto,
    @BaseUrl() base: string,
  ): Promise<InitiatedUploadDto> {
    return this.uploads.initiate({ keyId }, upload, base);
  }

  @Put('storage/uploads/:upload_id')
  @ApiUpload
  async uploadFile(
    @Param('upload_id') fileId: string,
    @Query() query: object,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StoredFileDto | void> {
    chargesOf(request)?.addStoredBody(uploadBytes);
    const begun = await this.uploads.begin(fileId, query, request);
    askForBody(request, response);
    const stored = await this.uploads.receive(begun, request, () => giveUpUpload(request, response));
    return { size: stored.size, sha256: stored.sha256.toString('hex') };
  }

  @Get('files/:file_id/:name')
  @ApiFile
  async readFile(
    @Param('file_id') fileId: string,
    @Param('name') name: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const file = await this.files.find(fileId, name);
    if (file === undefined) throw new DomainError('unknown_file', 'There is no such file.');
    await sendFile(this.files, file, request, response);
  }
}
