import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { Config } from '../config/config.js';
import { continueIfExpected } from './expect-continue.js';
import { readBody } from './read-body.js';

/**
 * Makes `req.body` a Buffer, for the one route that takes a body. An interceptor, because it runs after the
 * guards: a caller without a key or over its limit does not get to fill our memory first.
 */
@Injectable()
export class BodyReader implements NestInterceptor {
  constructor(private readonly config: Config) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    continueIfExpected(request, http.getResponse<Response>(), this.config.maxBodyBytes);
    request.body = await readBody(request, this.config.maxBodyBytes);
    return next.handle();
  }
}
