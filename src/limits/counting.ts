import { Injectable, type PipeTransform, type Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Call, CallPipe, type UnparsedBody } from '../http/input/decorators.js';
import { answerOf, type EnteredItems, Gate } from './gate.js';

/** Counts the items of a call, besides the call itself. */
export type CountItems = (count: number) => Promise<EnteredItems>;

@Injectable()
class ItemCountPipe extends CallPipe<CountItems> {
  constructor(private readonly gate: Gate) {
    super();
  }

  of(request: Request, _: unknown, response: Response): CountItems {
    return (count) => this.gate.enterItems(request, count, answerOf(response));
  }
}

export const ItemCount = (): ParameterDecorator => Call(ItemCountPipe);

const comma = 0x2c;

/**
 * A pipe that counts the ids of a body, of which the call takes at most `max`. It throws unless the limits admit all of
 * them. Ids are separated by commas, so the body need not be parsed: a refused call costs no parsing.
 */
export function IdCount(max: number): Type<PipeTransform> {
  @Injectable()
  class IdCountPipe implements PipeTransform<UnparsedBody, Promise<UnparsedBody>> {
    constructor(private readonly gate: Gate) {}

    async transform(body: UnparsedBody): Promise<UnparsedBody> {
      const { bytes, request, response } = body;
      let ids = 1;
      for (let at = bytes.indexOf(comma); at !== -1 && ids < max; at = bytes.indexOf(comma, at + 1)) ids++;
      await this.gate.enterForIds(ids, request, answerOf(response));
      return body;
    }
  }
  return IdCountPipe;
}
