import { Injectable } from '@nestjs/common';
import { commandOf } from '../../config/package.js';
import type { Actor } from '../../audit/actor.js';
import { AuditedKeys, type KeyCheck } from '../../audit/audited-keys.js';
import type { ApiKey } from '../../auth/api-key.entity.js';
import { toCaller } from '../../auth/caller-finder.js';
import { keyState } from '../../auth/key-view.js';
import { KeysService } from '../../auth/keys.service.js';
import { Sessions } from '../../auth/sessions.js';
import { Clock } from '../../database/clock.js';
import { DomainError } from '../../errors/domain-error.js';
import type { Page } from '../../http/input/page.js';
import type { KeyLimitsDto } from '../../limits/dto/key-limits.dto.js';
import { Gate } from '../../limits/gate.js';
import { KeyUse, type KeyUseNow } from '../../overview/key-use.js';
import { type KeyChangesDto, type NewKeyDto, toChanges } from './key-changes.dto.js';
import type { AdminKeyDto, AdminKeyPageDto, KeysQuery, LastAdminQuery, MadeKeyDto } from './keys.dto.js';

/** The keys, as operators see and change them. */
@Injectable()
export class Keys {
  constructor(
    private readonly keys: KeysService,
    private readonly audited: AuditedKeys,
    private readonly sessions: Sessions,
    private readonly gate: Gate,
    private readonly clock: Clock,
    private readonly keyUse: KeyUse,
  ) {}

  async list(page: Page<KeysQuery>): Promise<AdminKeyPageDto> {
    const { query, afterId: before, limit } = page;
    const rows = await this.keys.page({ state: query.state, before, limit: limit + 1 });
    const views = await this.views(rows);
    return page.of(
      views,
      ({ id }) => id,
      (view) => view,
    );
  }

  async read(id: string): Promise<AdminKeyDto> {
    const key = await this.keys.find(id);
    if (key === null) throw unknownKey(id);
    return this.view(key);
  }

  async create(actor: Actor, newKey: NewKeyDto): Promise<MadeKeyDto> {
    const values = { ...toChanges(newKey), name: newKey.name };
    const { key, secret } = await this.audited.create(actor, values, newKey.reason);
    return Object.assign(await this.view(key), { key: secret.reveal() });
  }

  async update(
    actor: Actor,
    id: string,
    changes: KeyChangesDto,
    { allow_no_admin: allowNoAdmin }: LastAdminQuery,
  ): Promise<AdminKeyDto> {
    const hasAdmin = changes.scopes?.includes('admin') ?? true;
    const staysAdmin = (before: ApiKey): boolean => hasAdmin && !this.endsEarlier(before, changes);
    const check: KeyCheck = (before, admins) => {
      if (before.subject !== null && changes.scopes !== undefined)
        throw new DomainError(
          'conflict',
          'The provider decides at each sign-in what this person may do. Change it there.',
        );
      if (!staysAdmin(before) && !allowNoAdmin) assertOtherAdmin(before, admins);
    };
    const { reason } = changes;
    const key = await this.audited.update(actor, id, toChanges(changes), { check, reason });
    this.sessions.lookAgain();
    if (key !== undefined) return this.view(key);
    if ((await this.keys.find(id)) === null) throw unknownKey(id);
    throw new DomainError('conflict', 'This key is revoked and cannot be changed. Make a new one.');
  }

  /** Revokes a key and ends its sessions. A key that is revoked already stays so. */
  async revoke(
    actor: Actor,
    id: string,
    reason: string | undefined,
    { allow_no_admin: allowNoAdmin }: LastAdminQuery,
  ): Promise<void> {
    const check = allowNoAdmin ? undefined : assertOtherAdmin;
    const isRevoked = await this.audited.revoke(actor, id, { check, reason });
    this.sessions.lookAgain();
    if (!isRevoked && (await this.keys.find(id)) === null) throw unknownKey(id);
  }

  private endsEarlier({ expiresAt }: ApiKey, { expires }: KeyChangesDto): boolean {
    if (expires === undefined || expires === null) return false;
    const endsAtMs = 'at' in expires ? expires.at.getTime() : this.clock.now() + expires.inMs;
    return expiresAt === null || endsAtMs < expiresAt.getTime();
  }

  private async view(key: ApiKey): Promise<AdminKeyDto> {
    return (await this.views([key]))[0]!;
  }

  private async views(keys: readonly ApiKey[]): Promise<AdminKeyDto[]> {
    const use = await this.keyUse.of(keys.map(({ id }) => id));
    const quotas = await this.gate.quotasOf(keys.map(toCaller));
    return keys.map((key, i) => this.toView(key, use.get(key.id)!, quotas[i]!));
  }

  private toView(key: ApiKey, use: KeyUseNow, quota: KeyLimitsDto): AdminKeyDto {
    return {
      id: key.id,
      name: key.name,
      prefix: key.prefix,
      state: keyState(key, new Date(this.clock.now())),
      subject: key.subject,
      scopes: key.scopes,
      models: key.models,
      limits: { submit: key.rateLimitSubmit, other: key.rateLimitOther, batch: key.rateLimitBatch },
      quota,
      max_priority: key.maxPriority ?? 'high',
      max_waiting: key.maxWaiting,
      max_running: key.maxRunning,
      weight: key.weight,
      waiting: use.waiting,
      running: use.running,
      requests_today: use.requestsToday,
      requests_last_30_days: use.requestsLast30Days,
      created_at: key.createdAt.toISOString(),
      expires_at: key.expiresAt?.toISOString() ?? null,
      revoked_at: key.revokedAt?.toISOString() ?? null,
      last_used_at: key.lastUsedAt?.toISOString() ?? null,
    };
  }
}

const assertOtherAdmin: KeyCheck = ({ id }, admins) => {
  if (admins.length !== 1 || admins[0]!.id !== id) return;
  const detail =
    'No other key has the scope "admin", so nobody could change anything here. If you intend that, add ' +
    `?allow_no_admin=true. This command then makes a new key: ${commandOf('keys', 'create')}`;
  throw new DomainError('conflict', detail);
};

export const unknownKey = (id: string): DomainError =>
  new DomainError('unknown_id', `There is no key ${id}.`);
