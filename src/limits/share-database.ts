import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { LimitsDatabase, limitsPoolSize } from '../database/limits-database.js';
import { textArray } from '../database/text-array.js';
import { unavailable } from './admission.js';
import { LimitAskEntity, LimitShareEntity } from './entities/limit-share.entity.js';
import { grantStatement, lockBudgets } from './queries/grant-shares.js';
import {
  leaveStatement,
  lockHolders,
  registerStatement,
  grantDefaultStatement,
  writeStatement,
} from './queries/write-shares.js';
import type {
  BudgetKey,
  GoneHolder,
  Grant,
  GrantRequest,
  GrantResult,
  HolderBeat,
  PerWindow,
  Registration,
  ShareRow,
  ShareStore,
  DefaultGrant,
  WriteRequest,
  WriteResult,
} from './share-store.js';

/** A grant may take this long. `grantStatement` uses the number for what a crashed holder may have used. */
const patienceMs = 2_000;
/** One connection stays free for writes, even if a hanging database keeps the connections of abandoned grants. */
const maxGrants = limitsPoolSize - 1;

/** The shares as PostgreSQL keeps them. */
@Injectable()
export class ShareDatabase implements ShareStore {
  /** Grants whose connections are in use. */
  private granting = 0;

  constructor(
    private readonly database: LimitsDatabase,
    @InjectRepository(LimitShareEntity) private readonly shares: Repository<LimitShareEntity>,
    @InjectRepository(LimitAskEntity) private readonly asks: Repository<LimitAskEntity>,
  ) {}

  async register(holder: string): Promise<Registration> {
    const [result] = await this.database.atomically<Registration>(
      [lockHolders, []],
      [registerStatement, [holder]],
    );
    return result!;
  }

  async acquireDefault(holder: string): Promise<DefaultGrant> {
    const granted = this.database.atomically<DefaultGrant>(
      [lockHolders, []],
      [grantDefaultStatement, [holder]],
    );
    const [result] = await inTime(granted);
    return result!;
  }

  async grant(
    holder: string,
    requests: readonly GrantRequest[],
    gone: readonly GoneHolder[],
  ): Promise<GrantResult> {
    if (this.granting >= maxGrants) throw unavailable();
    const keys = keyColumns(requests);
    const numbers = (['limits', 'windowsMs', 'held', 'used', 'needed', 'wanted'] as const).map((field) =>
      texts(requests.map((request) => request[field])),
    );
    const holders = [gone.map(({ id }) => id), gone.map(({ forMs }) => forMs)];
    this.granting++;
    const granted = this.database
      .atomically<Grant & { strays: string[] }>(
        [lockBudgets, keys],
        [grantStatement, [holder, ...keys, ...numbers, ...holders]],
      )
      .finally(() => this.granting--);
    const grants = await inTime(granted);
    return { isKnown: grants.length > 0, grants, strays: grants.flatMap(({ strays }) => strays) };
  }

  async write({ id, beat }: HolderBeat, { rows, forgotten, silent }: WriteRequest): Promise<WriteResult> {
    const [result] = await this.database.query<WriteResult>(writeStatement, [
      ...[id, beat, ...rowColumns(rows), ...keyColumns(forgotten.map((key) => ({ key })))],
      ...[silent.map((one) => one.id), silent.map((one) => one.beat)],
    ]);
    return result!;
  }

  async prune(holders: readonly string[]): Promise<void> {
    const rowsOf = { holderId: In(holders) };
    await Promise.all([this.asks.delete(rowsOf), this.shares.delete(rowsOf)]);
  }

  async leave(holder: string, rows: readonly ShareRow[]): Promise<void> {
    const used = rows.filter((row) => row.used.some((count) => count > 0));
    await this.database.query(leaveStatement, [holder, ...rowColumns(used)]);
  }
}

/**
 * Rejects after `patienceMs`; the statement may still run. A late grant never makes a row smaller. A default share that
 * its holder does not know of only takes from the other nodes, until it is given up. Neither does harm.
 */
async function inTime<T>(asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable()), patienceMs);
  });
  try {
    return await Promise.race([asked, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function keyColumns(rows: readonly { key: BudgetKey }[]): string[] {
  return (['subject', 'routeClass', 'policy'] as const).map((field) =>
    textArray(rows.map(({ key }) => key[field])),
  );
}

function rowColumns(rows: readonly ShareRow[]): string[] {
  return [...keyColumns(rows), texts(rows.map(({ shares }) => shares)), texts(rows.map(({ used }) => used))];
}

/** PostgreSQL has no arrays of arrays of different lengths, so each array is sent as its text. */
function texts(values: readonly PerWindow[]): string {
  return textArray(values.map((numbers) => `{${numbers.join()}}`));
}
