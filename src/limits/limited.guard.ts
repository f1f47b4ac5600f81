import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  getOptionsToken,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
} from '@nestjs/throttler';
import type { Request } from 'express';
import { CallerResolver } from '../auth/caller-resolver.js';
import { type GuardedRequest, RequireScope } from '../auth/current-caller.decorator.js';
import { setFields } from '../http/reply.js';
import { Gate, routeClassOf } from './gate.js';
import { ShareStorage } from './share-storage.js';

/** The gate as a guard of Nest: the throttler counts, then the scope of the route decides. */
@Injectable()
export class LimitedGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    private readonly storage: ShareStorage,
    reflector: Reflector,
    private readonly callers: CallerResolver,
    private readonly gate: Gate,
  ) {
    super(options, storage, reflector);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    await super.canActivate(context);
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    const scope = this.reflector.get(RequireScope, context.getHandler());
    const caller = this.gate.permit(await this.callers.resolve(request), scope);
    if (caller !== undefined) request.caller = caller;
    return true;
  }

  /** Called for each of the throttlers: one of them is for the route. */
  protected override async handleRequest({ context, throttler }: ThrottlerRequest): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const routeClass = routeClassOf(this.reflector.get(RequireScope, context.getHandler()));
    if (throttler.name !== routeClass) return true;
    const subject = this.gate.subjectOf(request, await this.callers.resolve(request), routeClass);
    if (subject === undefined) return true;
    const { admission } = await this.storage.increment(JSON.stringify(subject));
    this.gate.judge(admission, { setFields: (fields) => setFields(http.getResponse(), fields) });
    return true;
  }
}
