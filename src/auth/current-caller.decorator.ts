import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import type { Access, Caller } from './caller.js';

/** A call that passed the gate. No caller: it came without a key, which its route allows. */
export interface GuardedRequest extends Request {
  caller?: Caller;
}

/** The caller that the gate admitted. On routes other than submit it may be undefined. */
export const CurrentCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext): Caller | undefined =>
    context.switchToHttp().getRequest<GuardedRequest>().caller,
);

export const RequireAccess = Reflector.createDecorator<Access>();
