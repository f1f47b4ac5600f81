import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError } from '../../errors/domain-error.js';
import { BodyReader } from '../../http/body-reader.js';
import { parseObjectBody } from '../../http/input/json-body.js';
import { assertKnown, assertNoOptions } from '../../http/input/option.js';
import { isStorable } from '../../tools/storable-text.js';

const maxLength = 500;

/** The reason of an operator, for the audit: `{ "reason": "…" }`. It may be left out, also in a DELETE. */
@Injectable()
export class ReasonBodies {
  constructor(private readonly bodies: BodyReader) {}

  /** `queryOptions`: the options of the call's query. Any other is refused, because a reason there would be ignored. */
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

/** Parses a reason in a body whose members are options. */
export function parseReason(value: unknown): string {
  if (isReason(value)) return value;
  throw new Error(`expected ${expected}`);
}

const expected = `a text of at most ${maxLength} characters`;

/** Accepts only what PostgreSQL can store. */
const isReason = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= maxLength && isStorable(value);
