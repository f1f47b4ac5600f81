import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../auth/caller.js';
import type { GuardedRequest } from '../auth/current-caller.decorator.js';
import { ClientAddress } from '../http/client-address.js';
import { Call, CallPipe } from '../http/input/decorators.js';

/** A call of an adapter, as its handlers take it. */
export interface OpenCall {
  /** undefined: the call has no key, which its route allows. */
  caller: Caller | undefined;
  request: GuardedRequest;
  response: Response;
  /** The beginning of URLs in the answer. */
  base: string;
}

/** A call of a route that needs a key. */
export interface KeyedCall extends OpenCall {
  caller: Caller;
}

/**
 * Gives a handler of an adapter its call in one object: caller, request, response and base URL. A handler that writes
 * the answer itself also takes `@Res()`, so that Nest does not write it.
 */
export const TheCall = (): ParameterDecorator => Call(AdapterCallPipe);

@Injectable()
class AdapterCallPipe extends CallPipe<OpenCall> {
  constructor(private readonly addresses: ClientAddress) {
    super();
  }

  of(request: GuardedRequest, _data: unknown, response: Response): OpenCall {
    return { caller: request.caller, request, response, base: this.addresses.baseUrl(request) };
  }
}
