import { ApiSchema } from '@nestjs/swagger';
import { BodySchema } from '../../http/input/body.js';
import { Option, RequiredOption } from '../../http/input/option.js';
import { orLeftOut, rule, text } from '../../tools/rules.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { isContentType, maxContentTypeLength, maxNameLength } from '../file-name.js';

const base = 'http://127.0.0.1:3000';
const id = '5b1c6f2e-8f0d-4d39-9d5e-0c4a7b1e2f63';
const uri = { format: 'uri' };

const initiated = {
  file_url: `${base}/v1/files/${id}/cat.png`,
  upload_url: `${base}/v1/storage/uploads/${id}?expires=1767268800&type=image%2Fpng&signature=m3Qx`,
};

const stored = {
  content_type: 'image/png',
  size: 48_213,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
};

const contentType = rule({ type: String, maxLength: maxContentTypeLength }, (value) => {
  if (typeof value === 'string' && isContentType(value)) return value;
  throw new Error(`expected a media type of at most ${maxContentTypeLength} characters, such as image/png`);
});

@BodySchema({
  name: 'NewUpload',
  description: 'The file to upload.',
  examples: { picture: { content_type: 'image/png', file_name: 'cat.png' } },
  unknown: null,
})
export class NewUploadDto {
  @RequiredOption(contentType, 'The media type of the file. The upload must have the same one.', 'image/png')
  content_type!: string;
  @Option(
    orLeftOut(text),
    `The name of the file. Only the part after the last slash counts, at most ${maxNameLength} characters; ` +
      '`file` if omitted.',
    'cat.png',
  )
  file_name: string | undefined;
}

@ApiSchema({ name: 'InitiatedUpload', description: 'The URL for the upload, and the URL of the file.' })
export class InitiatedUploadDto {
  @Field('The URL of the file, to use in an input as a string.', initiated.file_url, uri)
  file_url!: string;
  @Field('The URL to PUT the bytes to, within an hour. It needs no key.', initiated.upload_url, uri)
  upload_url!: string;
}

@ApiSchema({ name: 'StoredFile', description: 'The file as it was stored.' })
export class StoredFileDto {
  @Field('The size in bytes.', stored.size, { type: 'integer', minimum: 0 })
  size!: number;
  @Field('The SHA-256 of the bytes, in hexadecimal. It is also the ETag.', stored.sha256)
  sha256!: string;
}
