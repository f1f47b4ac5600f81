import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { DomainError } from '../errors/domain-error.js';
import { uploadBytes } from '../files/stores/spool.js';
import { askForBody } from '../http/body-reader.js';
import { chargesOf } from '../http/charges.js';
import { slowBody, tooSlow } from '../http/slow-body.js';

/** A file of a form whose bytes are still arriving. */
export interface ComingFile {
  field: string;
  fileName: string | undefined;
  contentType: string;
  bytes: Readable;
}

/** A complete form. A field may appear more than once. */
export interface Form<Stored> {
  fields: [name: string, value: string][];
  files: { field: string; stored: Stored }[];
}

const limits = { fieldSize: 1024 ** 2, fields: 200, files: 16 };
/** Bytes of all fields together, with their names. */
const maxFieldBytes = 2 * 1024 ** 2;

/** Returns whether the body is a form, by its Content-Type. */
const isForm = ({ headers }: IncomingMessage): boolean =>
  /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');

/** Reads a form (multipart/form-data). `store` must read the bytes of each file, which it gets one after another. */
export async function readForm<Stored>(
  request: IncomingMessage,
  response: ServerResponse,
  store: (file: ComingFile) => Promise<Stored>,
): Promise<Form<Stored>> {
  const parser = parserFor(request);
  // The fields are charged as they come.
  chargesOf(request)?.addStoredBody(uploadBytes);
  askForBody(request, response);
  const form: Form<Stored> = { fields: [], files: [] };
  const storing: Promise<void>[] = [];
  let fieldBytes = 0;
  const addField = (name: string, value: string): void => {
    const bytes = Buffer.byteLength(name) + Buffer.byteLength(value);
    fieldBytes += bytes;
    if (fieldBytes > maxFieldBytes) throw tooLarge('The fields of the form are too long together.');
    chargesOf(request)?.addBody(bytes, fieldBytes);
    form.fields.push([name, value]);
  };
  try {
    await new Promise<void>((resolve, reject) => {
      parser.on('field', (name, value, { valueTruncated }) => {
        // An error that is thrown here would end the process.
        try {
          if (name === undefined) throw nameless();
          if (valueTruncated === true) throw tooLarge(`The field "${name.slice(0, 64)}" is too long.`);
          addField(name, value);
        } catch (error) {
          reject(error instanceof Error ? error : broken(error));
        }
      });
      parser.on('file', (field, bytes, { filename: fileName, mimeType: contentType }) => {
        // If a file is being read, its reader gets the error of the broken form.
        bytes.on('error', () => undefined);
        if (field === undefined) return reject(nameless());
        const one = store({ field, fileName, contentType, bytes });
        storing.push(one.then((stored) => void form.files.push({ field, stored })));
        // A fault of the form is the reason for which its file broke off.
        one.catch((error: unknown) => reject(bytes.errored === null ? (error as Error) : broken(error)));
      });
      parser.on('filesLimit', () => reject(tooLarge(`A form may have ${limits.files} files at most.`)));
      parser.on('fieldsLimit', () => reject(tooLarge(`A form may have ${limits.fields} fields at most.`)));
      parser.on('error', (error) => reject(broken(error)));
      parser.on('close', resolve);
      request.once(slowBody, () => reject(tooSlow()));
      request.once('close', () => {
        if (!request.complete) reject(broken());
      });
      request.pipe(parser);
    });
    await Promise.all(storing);
    return form;
  } catch (error) {
    request.unpipe(parser);
    request.resume(); // so that the client gets to read the answer
    parser.destroy();
    await Promise.allSettled(storing);
    throw error;
  }
}

function parserFor(request: IncomingMessage): ReturnType<typeof busboy> {
  const { headers } = request;
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.trim().toLowerCase() !== 'identity')
    throw new DomainError('unsupported_encoding', 'Send the form without a Content-Encoding.');
  try {
    if (isForm(request)) return busboy({ headers, defParamCharset: 'utf8', limits });
  } catch {
    // It has no boundary.
  }
  throw new DomainError('bad_request', 'The body must be a form: multipart/form-data with its boundary.');
}

const nameless = (): DomainError => new DomainError('bad_request', 'A part of the form has no name.');
const tooLarge = (detail: string): DomainError => new DomainError('too_large', detail);

function broken(cause?: unknown): DomainError {
  return new DomainError('bad_request', 'The form ended before all of it had arrived.', { cause });
}
