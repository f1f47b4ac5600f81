import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import cors from 'cors';
import { Config } from '../config/config.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import { corsOptions } from './cors-options.js';

const none: readonly string[] = [];
const maxOrigins = 1_000;

/** The fields that `cors` gives an answer, which Express asks for each call, asked once an origin. */
@Injectable()
export class CorsFields {
  private readonly handler: ReturnType<typeof cors> | undefined;
  private readonly known = new BoundedCache<readonly string[]>(maxOrigins);

  constructor({ corsOrigins }: Config) {
    if (corsOrigins.length > 0) this.handler = cors(corsOptions(corsOrigins));
  }

  /** Names and values in turns. */
  of(origin = ''): readonly string[] {
    if (this.handler === undefined) return none;
    const known = this.known.get(origin, 0);
    if (known !== undefined) return known;
    const fields = this.ask(this.handler, origin);
    this.known.set(origin, fields, Infinity);
    return fields;
  }

  private ask(handler: ReturnType<typeof cors>, origin: string): readonly string[] {
    const set = new Map<string, string>();
    const request = { method: 'GET', headers: origin === '' ? {} : { origin } } as IncomingMessage;
    const response = {
      getHeader: (name: string) => set.get(name),
      setHeader: (name: string, value: string) => set.set(name, value),
    } as unknown as ServerResponse;
    handler(request, response, () => undefined);
    return [...set].flat();
  }
}
