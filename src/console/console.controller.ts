import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Config } from '../config/config.js';
import { ConsoleFiles } from './console-files.js';

@ApiExcludeController()
@Controller()
export class ConsoleController {
  constructor(
    private readonly config: Config,
    private readonly files: ConsoleFiles,
  ) {}

  /** The redirect is relative, because a proxy may serve the console below another path. */
  @Get()
  root(@Req() request: Request, @Res() response: Response): void {
    const isPerson = this.config.console && request.accepts(['json', 'html']) === 'html';
    response.vary('Accept').redirect(isPerson ? 'console' : 'docs');
  }

  @Get('console/assets/:name')
  async asset(
    @Param('name') name: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const file = this.config.console ? await this.files.asset(name) : undefined;
    if (file === undefined) return refuse(response, 'The console has no such file.');
    const { type, plain, gzipped } = file;
    const isGzip = request.acceptsEncodings(['gzip', 'identity']) === 'gzip';
    response
      .vary('Accept-Encoding')
      .set({ 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' })
      .set(isGzip ? { 'Content-Encoding': 'gzip' } : {})
      .send(isGzip ? gzipped : plain);
  }

  /** Serves the same page for every view. The browser chooses the view. */
  @Get(['console', 'console/*view'])
  page(@Req() { path }: Request, @Res() response: Response): void {
    if (!this.config.console) return refuse(response, 'The console is off here.');
    const up = path.split('/').length - 3;
    const page = this.files.index(up < 0 ? 'console/' : '../'.repeat(up) || './');
    if (page === undefined) return refuse(response, 'The console is not built. Run: npm run build');
    response.set('Cache-Control', 'no-cache').type('text/html').send(page);
  }
}

/** Answers in plain words for people in a browser. */
function refuse(response: Response, why: string): void {
  response.status(404).type('text/plain').send(`${why}\n`);
}
