import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Injectable } from '@nestjs/common';

const compress = promisify(gzip);

/** The build's output directory, `dist/console`. */
const built = new URL(
  import.meta.url.includes('/dist/src/') ? '../../console/' : '../../dist/console/',
  import.meta.url,
);

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

export interface ConsoleFile {
  type: string;
  plain: Buffer;
  gzipped: Buffer;
}

/**
 * The built console: about twenty files, together less than a megabyte. Each is kept in memory once it was requested.
 */
@Injectable()
export class ConsoleFiles {
  private page: string | undefined;
  private readonly assets = new Map<string, Promise<ConsoleFile>>();

  /** `base`: the relative path from the page to /console/. undefined: the console was not built. */
  index(base: string): string | undefined {
    try {
      this.page ??= readFileSync(new URL('index.html', built), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    return this.page.replace('<head>', () => `<head>\n    <base href="${base}" />`);
  }

  /** undefined: there is no file of this name. Names contain a hash of the content, so a file never changes. */
  async asset(name: string): Promise<ConsoleFile | undefined> {
    const type = types[/^[\w-]+\.(js|css)$/.exec(name)?.[1] ?? ''];
    if (type === undefined) return undefined;
    let file = this.assets.get(name);
    if (file === undefined) {
      file = readFile(new URL(`assets/${name}`, built)).then(async (plain) => {
        return { type, plain, gzipped: await compress(plain, { level: 9 }) };
      });
      this.assets.set(name, file);
    }
    try {
      return await file;
    } catch (error) {
      this.assets.delete(name);
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}
