import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError } from '../../errors/domain-error.js';
import { BodyReader } from '../../http/body-reader.js';
import { parseObjectBody } from '../../json/input-body.js';
import { assertKnown, assertNoOptions } from '../../requests/dto/submit.query.js';
import { isStorable } from '../../tools/storable-text.js';

const maxLength = 500;

/** Why an operator does something, for the audit: `{ "reason": "…" }`, which may be left out, also of a DELETE. */
@Injectable()
export class ReasonBodies {
  constructor(private readonly bodies: BodyReader) {}

  /** `queryOptions`: those of the call; a reason in the query would be passed over. */
  async read(
    request: Request,
    response: Response,
    queryOptions: readonly string[] = [],
  ): Promise<string | undefined> {
    const others = Object.entries(request.query).filter(([name]) => !queryOptions.includes(name));
    assertNoOptions(Object.fromEntries(others));
    const body = await this.bodies.read(request, response);
    if (body.length === 0) return undefined;
    const { value } = parseObjectBody(body, { example: '{"reason": "asked for by its owner"}' });
    assertKnown(Object.entries(value), ['reason']);
    return reasonOf(value);
  }
}

export function reasonOf({ reason }: Record<string, unknown>): string | undefined {
  if (reason === undefined || reason === null || reason === '') return undefined;
  if (isReason(reason)) return reason;
  throw new DomainError('bad_request', `"reason" takes ${expected}.`);
}

/** Of a body whose members are options. */
export function parseReason(value: unknown): string {
  if (isReason(value)) return value;
  throw new Error(`expected ${expected}`);
}

const expected = `a text of at most ${maxLength} characters`;

/** What PostgreSQL can hold. */
const isReason = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= maxLength && isStorable(value);
