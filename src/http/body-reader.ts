import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { continueIfExpected } from './expect-continue.js';
import { readBody } from './read-body.js';

/**
 * Reads the body of the one route that takes one. Called by the handler, after the guards: a caller without a key, or
 * over its limit with more than a few kilobytes, does not get to fill our memory first.
 */
@Injectable()
export class BodyReader {
  constructor(private readonly config: Config) {}

  read(request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
    continueIfExpected(request, response, this.config.maxBodyBytes);
    return readBody(request, this.config.maxBodyBytes);
  }
}
