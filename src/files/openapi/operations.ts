import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
} from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { InitiatedUploadDto, StoredFileDto } from '../dto/files.dto.js';

const binary = { type: 'string', format: 'binary' } as const;
const id = { type: 'string', format: 'uuid', example: '5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63' } as const;

/** `content` is written out, because ApiBody would describe the bytes as JSON. */
const fileBody = { description: 'The bytes.', required: true, content: { '*/*': { schema: binary } } };

export const ApiInitiate = ApiCall(
  'Begin the upload of a file',
  'Needs a key with the scope `submit` or `work`. The answer has two URLs: PUT the bytes to `upload_url`, ' +
    'and use `file_url` in an input. A file is deleted with the payload of the last of the key’s requests ' +
    'that names it. A file that no request names is deleted after 24 hours. If the files of the key have ' +
    'reached their maximum, the answer is 507; `GET /v1/key` shows them under `allowances`.',
  ApiOkResponse({ description: 'The URLs.', type: InitiatedUploadDto }),
  ApiProblems('storage_full'),
);

export const ApiUpload = applyDecorators(
  ApiOperation({
    summary: 'Upload a file',
    description:
      'The `upload_url` of an initiated upload, unchanged. It carries its authorization for an hour, so no key ' +
      'is sent. The body is the bytes, at most `MAX_FILE_BYTES`, with the announced Content-Type. The bytes ' +
      'are on disk when the call returns. An interrupted upload leaves nothing behind and may be sent again.',
    security: [],
  }),
  ApiParam({ name: 'upload_id', description: 'The value in `upload_url`.', schema: id }),
  ApiQuery({
    name: 'expires',
    description: 'The value in `upload_url`.',
    schema: { type: 'string', example: '1767268800' },
  }),
  ApiQuery({
    name: 'type',
    description: 'The value in `upload_url`.',
    schema: { type: 'string', example: 'image/png' },
  }),
  ApiQuery({
    name: 'of',
    description: 'The value in `upload_url`, if it has one.',
    required: false,
    schema: { type: 'string', enum: ['output'] },
  }),
  ApiQuery({
    name: 'signature',
    description: 'The value in `upload_url`.',
    schema: { type: 'string', example: 'm3Qx' },
  }),
  ApiBody(fileBody),
  ApiOkResponse({ description: 'The file is stored.', type: StoredFileDto }),
  ApiProblems(
    'bad_request',
    'invalid_upload',
    'invalid_upload_url',
    'unknown_file',
    'conflict',
    'body_too_large',
    'too_slow',
    'unsupported_encoding',
    'storage_full',
  ),
);

export const ApiFile = applyDecorators(
  ApiOperation({
    summary: 'Read a file',
    description:
      'A client that knows the URL may read the file. No key is needed, and no limit counts the call. Browsers ' +
      'show pictures, sounds and videos; everything else (SVG too) is a download. HEAD works as well.',
    security: [],
  }),
  ApiParam({ name: 'file_id', description: 'The value in the URL of the file.', schema: id }),
  ApiParam({
    name: 'name',
    description: 'The value in the URL of the file.',
    schema: { type: 'string', example: 'cat.png' },
  }),
  ApiHeader({ name: 'Range', description: 'One range of bytes.', schema: { type: 'string' } }),
  ApiHeader({ name: 'If-Range', description: 'An ETag.', schema: { type: 'string' } }),
  ApiHeader({ name: 'If-Match', description: 'ETags.', schema: { type: 'string' } }),
  ApiHeader({ name: 'If-None-Match', description: 'ETags.', schema: { type: 'string' } }),
  ApiOkResponse({ description: 'The bytes.', content: { '*/*': { schema: binary } } }),
  ApiResponse({ status: 206, description: 'The range of bytes.', content: { '*/*': { schema: binary } } }),
  ApiResponse({ status: 304, description: 'The client already has the file.' }),
  ApiProblems('unknown_file', 'changed_meanwhile', 'range_not_satisfiable'),
);
