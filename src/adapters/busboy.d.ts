declare module 'busboy' {
  import type { IncomingHttpHeaders } from 'node:http';
  import type { Readable, Writable } from 'node:stream';

  interface Part {
    filename: string | undefined;
    mimeType: string;
    /** The value of a field is longer than the limit. */
    valueTruncated?: boolean;
  }

  interface Parser extends Writable {
    /** A part may have no name. */
    on(event: 'field', listener: (name: string | undefined, value: string, part: Part) => void): this;
    on(event: 'file', listener: (name: string | undefined, stream: Readable, part: Part) => void): this;
    on(event: 'filesLimit' | 'fieldsLimit' | 'close', listener: () => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
  }

  /** Throws if the Content-Type is no form. */
  export default function busboy(options: {
    headers: IncomingHttpHeaders;
    defParamCharset?: string;
    limits?: { fieldSize?: number; fields?: number; files?: number };
  }): Parser;
}
