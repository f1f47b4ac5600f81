import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { type Caller, hasScope } from '../auth/caller.js';
import { DomainError } from '../errors/domain-error.js';
import { BodyReader } from '../http/body-reader.js';
import { ClientAddress } from '../http/client-address.js';
import { parseObjectBody } from '../http/input/json-body.js';
import type { InitiatedUploadDto } from './dto/files.dto.js';
import { Uploads } from './uploads.js';

const example = '{"content_type": "image/png", "file_name": "cat.png"}';

/** The call that begins an upload, on every path. */
@Injectable()
export class UploadRequests {
  constructor(
    private readonly uploads: Uploads,
    private readonly bodies: BodyReader,
    private readonly addresses: ClientAddress,
  ) {}

  async initiate(
    caller: Caller,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<InitiatedUploadDto> {
    const mayUpload = hasScope(caller, 'submit') || hasScope(caller, 'work');
    if (!mayUpload) {
      throw new DomainError('forbidden', 'This API key has neither the scope "submit" nor "work".');
    }
    return this.initiateOf({ keyId: caller.keyId }, request, response);
  }

  async initiateOf(
    owner: { keyId: string } | { requestId: string },
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<InitiatedUploadDto> {
    const { value } = parseObjectBody(await this.bodies.read(request, response), { example });
    const { fileUrl, uploadUrl } = await this.uploads.initiate({
      ...owner,
      contentType: text(value, 'content_type'),
      fileName: text(value, 'file_name', 'file'),
      base: this.addresses.baseUrl(request),
    });
    return { file_url: fileUrl, upload_url: uploadUrl };
  }
}

function text(body: Record<string, unknown>, name: string, otherwise?: string): string {
  const value = body[name] ?? otherwise;
  if (typeof value === 'string') return value;
  throw new DomainError('bad_request', `The member "${name}" must be a string, as in ${example}.`);
}
