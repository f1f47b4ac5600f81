import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { catchError, defer, EMPTY, exhaustMap, filter, interval, NEVER, type Observable } from 'rxjs';
import { CallerResolver } from './caller-resolver.js';
import { type Caller, hasScope, type Scope } from './caller.js';

/** So soon a stream ends whose key or session is no more. */
const lookEveryMs = 5_000;
/** What a stream shows more of. */
const shown: readonly Scope[] = ['observe', 'payloads'];

/** For streams: they go on after the guards. */
@Injectable()
export class CallerWatch {
  constructor(private readonly callers: CallerResolver) {}

  /** Never of a call without one; otherwise once the key was revoked, the session ended, or one of them may see less than before. */
  refused(request: Request, caller: Caller | undefined): Observable<unknown> {
    if (caller === undefined) return NEVER;
    const needed = shown.filter((scope) => hasScope(caller, scope));
    return interval(lookEveryMs).pipe(
      // Without the database nobody is refused.
      exhaustMap(() => defer(async () => this.callers.resolveAnew(request)).pipe(catchError(() => EMPTY))),
      filter((found) => found.kind !== 'caller' || !needed.every((scope) => hasScope(found.caller, scope))),
    );
  }
}
