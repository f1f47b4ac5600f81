import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { commandOf } from '../../config/package.js';
import type { Actor } from '../../audit/actor.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import { Refusals } from '../../audit/refusals.js';
import type { ApiKey } from '../../auth/api-key.entity.js';
import { CallerResolver } from '../../auth/caller-resolver.js';
import { type Caller, hasScope, isOperator, scopes } from '../../auth/caller.js';
import type { GuardedRequest } from '../../auth/current-caller.decorator.js';
import { KeysService } from '../../auth/keys.service.js';
import { foreignSignIn } from '../../auth/session-cookie.js';
import { Sessions } from '../../auth/sessions.js';
import { SignInLinks } from '../../auth/sign-in-links.js';
import { DomainError } from '../../errors/domain-error.js';
import { ClientAddress } from '../../http/client-address.js';
import type { Page, PageQuery } from '../../http/input/page.js';
import { PerMinute } from '../../tools/per-minute.js';
import type { AdminSessionPageDto, SignedInDto, SignInDto } from './sessions.dto.js';

/** Sign-ins per minute on a node, of one key and of all: each adds an audit row and a session. */
const maxSignIns = { each: 60, all: 600 };

/** A session that was begun. */
export interface Begun {
  /** Only for the cookie. */
  token: string;
  signedIn: SignedInDto;
}

/** Finds who signs in, in the transaction of the sign-in. Throws the error that refuses it. */
type Identify = (manager: EntityManager) => Promise<Pick<ApiKey, 'id' | 'name' | 'scopes'>>;

/** Signs in to the console, and out. */
@Injectable()
export class SignIn {
  private readonly begun = new PerMinute(maxSignIns);

  constructor(
    private readonly callers: CallerResolver,
    private readonly keys: KeysService,
    private readonly links: SignInLinks,
    private readonly sessions: Sessions,
    private readonly trail: AuditTrail,
    private readonly refusals: Refusals,
  ) {}

  async signedIn(caller: Caller): Promise<SignedInDto> {
    const session = caller.sessionId === undefined ? null : await this.sessions.find(caller.sessionId);
    return {
      key_id: caller.keyId,
      name: caller.name,
      scopes: scopes.filter((scope) => hasScope(caller, scope)),
      session_id: session?.id ?? null,
      expires_at: session?.expiresAt.toISOString() ?? null,
    };
  }

  async list(page: Page<PageQuery>, caller: Caller): Promise<AdminSessionPageDto> {
    const rows = await this.sessions.list({ before: page.afterId, limit: page.limit + 1 });
    const names = await this.keys.names(rows.map(({ keyId }) => keyId));
    return page.of(
      rows,
      ({ id }) => id,
      ({ id, keyId, createdAt, expiresAt, address, userAgent }) => ({
        id,
        key_id: keyId,
        name: names.get(keyId) ?? null,
        address,
        user_agent: userAgent,
        created_at: createdAt.toISOString(),
        expires_at: expiresAt.toISOString(),
        is_current: id === caller.sessionId,
      }),
    );
  }

  /** Signs in by a key or a link. */
  async begin(request: GuardedRequest, { key, link }: SignInDto): Promise<Begun> {
    return key === undefined
      ? this.beginAs(request, 'link', (manager) => this.byLink(link!, manager))
      : this.beginAs(request, 'key', (manager) => this.byKey(key, manager), await this.callers.ofKey(key));
  }

  /**
   * Begins a session. A refused sign-in is audited too. `known`: the key, if it is known before. The browser's previous
   * session ends: a token is never taken over.
   */
  async beginAs(
    request: GuardedRequest,
    by: 'key' | 'link' | 'oidc',
    identify: Identify,
    known?: Caller,
  ): Promise<Begun> {
    const actor = this.trail.actorOf(request, undefined);
    const before = request.caller?.sessionId;
    try {
      // Checked before a connection is taken, because there may be very many calls.
      if (known !== undefined) {
        if (!isOperator(known)) throw noScope(known.name);
        this.assertMayBegin(known.keyId);
      }
      const begun = await this.trail.inTransaction(async (manager) => {
        const key = await identify(manager);
        if (!isOperator(key)) throw noScope(key.name);
        if (known === undefined) this.assertMayBegin(key.id);
        const isReplaced = before !== undefined && (await this.sessions.end(manager, before));
        const { id, token, expiresAt } = await this.sessions.begin(manager, key.id, {
          address: actor.address,
          userAgent: actor.userAgent,
        });
        const signedIn: Actor = { ...actor, keyId: key.id, name: key.name, sessionId: id };
        if (isReplaced)
          await this.trail.write(manager, signedIn, {
            action: 'session.end',
            target: before,
            after: { replaced_by: id },
          });
        await this.trail.write(manager, signedIn, { action: 'session.begin', target: id, after: { by } });
        const own = scopes.filter((scope) => hasScope(key, scope));
        const { id: key_id, name } = key;
        const expires_at = expiresAt.toISOString();
        return { token, signedIn: { key_id, name, scopes: own, session_id: id, expires_at } };
      });
      if (before !== undefined) this.sessions.lookAgain();
      return begun;
    } catch (error) {
      if (error instanceof DomainError && error.code !== 'unavailable') {
        const after = { by, code: error.code };
        await this.refusals.note(actor, { action: 'session.refuse', after, reason: error.message });
      }
      throw error;
    }
  }

  /** Ends the session of the call. A caller that sends the key itself has none to end. */
  async end(actor: Actor, { sessionId }: Caller, reason: string | undefined): Promise<void> {
    if (sessionId !== undefined) await this.endSession(actor, sessionId, reason);
  }

  async endOther(actor: Actor, id: string, reason: string | undefined): Promise<void> {
    if (!(await this.endSession(actor, id, reason)))
      throw new DomainError('unknown_id', `There is no active session ${id}.`);
  }

  /** Returns false if there is none, or it has ended. */
  private async endSession(actor: Actor, id: string, reason: string | undefined): Promise<boolean> {
    const isEnded = await this.trail.inTransaction(async (manager) => {
      if (!(await this.sessions.end(manager, id))) return false;
      await this.trail.write(manager, actor, { action: 'session.end', target: id, reason });
      return true;
    });
    this.sessions.lookAgain();
    return isEnded;
  }

  private assertMayBegin(keyId: string): void {
    if (!this.begun.takes(keyId)) throw tooManySignIns();
  }

  private async byKey(text: string, manager: EntityManager): Promise<ApiKey> {
    const caller = await this.callers.ofKey(text);
    const key = caller && (await this.keys.findValid(caller.keyId, manager));
    if (key) return key;
    throw new DomainError('invalid_key', 'This API key is unknown, revoked or expired.');
  }

  private async byLink(token: string, manager: EntityManager): Promise<ApiKey> {
    const keyId = await this.links.use(token, manager);
    const key = keyId === undefined ? null : await this.keys.findValid(keyId, manager);
    if (key !== null) return key;
    const detail =
      'This link was already used, is older than an hour, or was replaced. Make a new one: ' +
      commandOf('keys', 'link');
    throw new DomainError('sign_in_refused', detail);
  }
}

/** Refuses a sign-in that a page of another site may have caused. The refusal is audited. */
@Injectable()
export class OwnPageGuard implements CanActivate {
  constructor(
    private readonly signIn: SignIn,
    private readonly addresses: ClientAddress,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<GuardedRequest>();
    const forgery = foreignSignIn(request, this.addresses.baseUrl(request));
    if (forgery === undefined) return true;
    await this.signIn.beginAs(request, 'key', () => Promise.reject(new DomainError('forbidden', forgery)));
    return false;
  }
}

function tooManySignIns(): DomainError {
  const detail = `A key can sign in at most ${maxSignIns.each} times a minute. Use its existing session.`;
  return new DomainError('caller_busy', detail, { retryAfterSeconds: 60 });
}

function noScope(name: string): DomainError {
  const detail = `"${name}" cannot sign in: it has none of the scopes observe, payloads and admin.`;
  return new DomainError('forbidden', detail);
}
