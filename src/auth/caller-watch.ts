import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { catchError, defer, EMPTY, exhaustMap, filter, interval, NEVER, type Observable } from 'rxjs';
import { Config } from '../config/config.js';
import { CallerResolver } from './caller-resolver.js';
import { type Caller, hasScope, type Scope } from './caller.js';

/** So soon a stream ends whose key or session is no more. */
const lookEveryMs = 5_000;
/** What a stream shows more of. */
const shown: readonly Scope[] = ['observe', 'payloads'];

/** For streams: they go on after the guards. */
@Injectable()
export class CallerWatch {
  constructor(
    private readonly callers: CallerResolver,
    private readonly config: Config,
  ) {}

  /** Of a stream of a request; never where whoever knows its id may follow it. */
  refusedOfRequest(request: Request, caller: Caller | undefined): Observable<unknown> {
    const idIsEnough = this.config.requestAccess === 'capability';
    return caller === undefined || idIsEnough ? NEVER : this.refused(request, caller);
  }

  /** Once the key was revoked, the session ended, or one of them may see less than before. */
  refused(request: Request, caller: Caller): Observable<unknown> {
    const needed = shown.filter((scope) => hasScope(caller, scope));
    return interval(lookEveryMs).pipe(
      // Without the database nobody is refused.
      exhaustMap(() => defer(async () => this.callers.resolveAnew(request)).pipe(catchError(() => EMPTY))),
      filter((found) => found.kind !== 'caller' || !needed.every((scope) => hasScope(found.caller, scope))),
    );
  }
}
