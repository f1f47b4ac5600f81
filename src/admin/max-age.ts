import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

const longestMs = 10_000;

/** How old the answer may be, in milliseconds, by `Cache-Control: max-age=2`; 0: it must be read for this call. */
export const MaxAge = createParamDecorator((_: unknown, context: ExecutionContext): number => {
  const { headers } = context.switchToHttp().getRequest<Request>();
  const [, seconds] = /\bmax-age=(\d{1,6})\b/i.exec(headers['cache-control'] ?? '') ?? [];
  return seconds === undefined ? 0 : Math.min(longestMs, Number(seconds) * 1_000);
});
