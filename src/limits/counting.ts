import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Call, CallPipe } from '../http/input/decorators.js';
import { answerOf, type EnteredItems, Gate } from './gate.js';

/** Counts what a call names, besides the call itself. */
export interface Counting {
  /** Throws unless the limits admit all ids. */
  ids(count: number): Promise<void>;
  items(count: number): Promise<EnteredItems>;
}

@Injectable()
class CountingPipe extends CallPipe<undefined, Counting> {
  constructor(private readonly gate: Gate) {
    super();
  }

  of(request: Request, _: undefined, response: Response): Counting {
    const answer = answerOf(response);
    return {
      ids: (count) => this.gate.enterForIds(count, request, answer),
      items: (count) => this.gate.enterItems(request, count, answer),
    };
  }
}

export const Counting = (): ParameterDecorator => Call(CountingPipe);
