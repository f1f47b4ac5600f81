import { Injectable } from '@nestjs/common';
import { maxInlineBytes } from '../models/input-schemas.js';
import { JsonThreads } from './json-threads.js';
import { readWrappedInput, type WrappedInput } from './wrapped-input.js';

/** Reads bodies that have the input as one member, large ones in a thread. */
@Injectable()
export class WrappedInputs {
  constructor(private readonly json: JsonThreads) {}

  async read(body: Buffer, caller: string): Promise<WrappedInput> {
    if (body.length <= maxInlineBytes) return readWrappedInput(body);
    const [{ fields }, input] = await this.json.run('wrapped', {}, body, { caller });
    return { fields, input };
  }
}
