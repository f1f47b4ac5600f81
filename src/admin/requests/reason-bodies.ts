import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { DomainError } from '../../errors/domain-error.js';
import { BodyReader } from '../../http/body-reader.js';
import { parseObjectBody } from '../../requests/input-body.js';
import { assertKnown } from '../../requests/dto/submit.query.js';

const maxLength = 500;

/** Why an operator does something, for the audit: `{ "reason": "…" }`, which may be left out. */
@Injectable()
export class ReasonBodies {
  constructor(private readonly bodies: BodyReader) {}

  async read(request: IncomingMessage, response: ServerResponse): Promise<string | undefined> {
    const body = await this.bodies.read(request, response);
    if (body.length === 0) return undefined;
    const { value } = parseObjectBody(body, { example: '{"reason": "asked for by its owner"}' });
    assertKnown(Object.entries(value), ['reason']);
    return reasonOf(value);
  }
}

export function reasonOf({ reason }: Record<string, unknown>): string | undefined {
  if (reason === undefined || reason === null || reason === '') return undefined;
  if (typeof reason === 'string' && reason.length <= maxLength) return reason;
  throw new DomainError('bad_request', `"reason" takes a text of at most ${maxLength} characters.`);
}
