import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Subject } from 'rxjs';
import { type EntityManager, In, Raw, type Repository } from 'typeorm';
import { plainTransaction } from '../database/plain-transaction.js';
import { storable } from '../tools/storable-text.js';
import { ModelEntity } from './model.entity.js';
import type { FileModel, Group, Model } from './model.js';
import { noOverrides, type Overrides } from './overrides.js';
import type { Taker } from './runner-kind.js';
import { Redaction } from '../tools/redaction.js';
import { findDifferences, type ModelRow } from './queries/find-differences.js';

export const MODELS = Symbol('MODELS');

/** The most models that one line of the log names. */
const shownModels = 50;

/** The models of the file, with the overrides of operators. */
@Injectable()
export class ModelsService implements OnModuleInit {
  /** Emits when models or their settings have changed. A model that has not changed is the same object as before. */
  readonly changes = new Subject<void>();
  private readonly log = new Logger(ModelsService.name);
  private overrides: ReadonlyMap<string, Overrides> = new Map();
  private models: ReadonlyMap<string, { file: FileModel; model: Model }> = new Map();
  private aliases: ReadonlyMap<string, string> = new Map();
  /** By group. */
  private members: ReadonlyMap<string, readonly Model[]> = new Map();

  constructor(
    @Inject(MODELS) models: FileModel[],
    @InjectRepository(ModelEntity) private readonly table: Repository<ModelEntity>,
    private readonly redaction: Redaction,
  ) {
    this.setFile(models);
  }

  async onModuleInit(): Promise<void> {
    await this.warnOfDifferences(this.file.map(toRow));
    await plainTransaction(this.table, (manager) => this.write(manager, this.file));
  }

  /** Logs which models are served, once they are. */
  sayWhatIsServed(): void {
    const ids = [...this.models.keys()];
    const shown = ids.slice(0, shownModels).join(', ');
    const more = ids.length > shownModels ? ` and ${ids.length - shownModels} more` : '';
    this.log.log(`serves ${ids.length} ${ids.length === 1 ? 'model' : 'models'}: ${shown}${more}`);
  }

  get(id: string): Model | undefined {
    return this.models.get(id)?.model;
  }

  /** Returns the id of the model that has this id or alias. undefined: none has. */
  idOf(name: string): string | undefined {
    return this.models.has(name) ? name : this.aliases.get(name);
  }

  all(): Model[] {
    return [...this.models.values()].map(({ model }) => model);
  }

  takenBy(taker: Taker): Model[] {
    return this.all().filter(({ takenBy }) => takenBy === taker);
  }

  get hasGroups(): boolean {
    return this.members.size > 0;
  }

  /** Returns the groups that models are in. */
  groups(): Group[] {
    return [...this.members.values()].map(([first]) => first!.group!);
  }

  /** Returns the models of a group, in the order of the file. */
  membersOf({ id }: Group): readonly Model[] {
    return this.members.get(id) ?? [];
  }

  /** The models as the file has them. */
  get file(): FileModel[] {
    return [...this.models.values()].map(({ file }) => file);
  }

  /** Returns a model as the file has it. */
  base(id: string): FileModel | undefined {
    return this.models.get(id)?.file;
  }

  overridesOf(id: string): Overrides {
    return this.overrides.get(id) ?? noOverrides;
  }

  /** Sets the overrides by model id. A model without an entry has none. */
  setOverrides(overrides: ReadonlyMap<string, Overrides>): void {
    this.overrides = overrides;
    this.setFile(this.file);
  }

  /** Writes the models to the table, where people's queries join them and nodes find each model's concurrency. */
  async write(manager: EntityManager, models: readonly FileModel[]): Promise<void> {
    const table = manager.getRepository(ModelEntity);
    // All rows are locked in one order, or nodes that start together would deadlock.
    const known = await table.find({ order: { id: 'ASC' }, lock: { mode: 'pessimistic_write' } });
    const rows = models.map((model) => {
      const before = known.find(({ id }) => id === model.id);
      const row = toRow(model);
      const slotRound = before === undefined ? 0 : before.slotRound + (losesSlots(before, row) ? 1 : 0);
      return { ...row, removedAt: null, slotRound };
    });
    rows.sort((one, other) => (one.id < other.id ? -1 : 1));
    // A row that is right already is not written.
    await table.upsert(rows, { conflictPaths: ['id'], skipUpdateIfNoValuesChanged: true });
    // Models that left the file keep their row, because old requests name them.
    const ids = new Set(models.map(({ id }) => id));
    const gone = known.filter(({ id, removedAt }) => removedAt === null && !ids.has(id));
    for (const { id } of gone) await table.update(id, { removedAt: () => 'now()' });
  }

  /**
   * Renews the time at which a node with another file marked this node's models as removed, so that no node takes them
   * for gone. The mark stays, because the other file may be the newer one.
   */
  async postponeRemovals(): Promise<void> {
    await plainTransaction(this.table, async (manager) => {
      const table = manager.getRepository(ModelEntity);
      const removedAt = Raw((column) => `${column} < now() - interval '1 hour'`);
      const marked = await table.find({
        select: { id: true },
        where: { id: In([...this.models.keys()]), removedAt },
        order: { id: 'ASC' },
        lock: { mode: 'pessimistic_write' },
      });
      const ids = In(marked.map(({ id }) => id));
      if (marked.length > 0) await table.update({ id: ids }, { removedAt: () => 'now()' });
    });
  }

  /**
   * Warns if other nodes have written a model otherwise than this node's file. Before a new file is written, it must
   * also differ from the previous file.
   */
  async warnOfDifferences(...files: ModelRow[][]): Promise<void> {
    const found = await Promise.all(files.map((rows) => findDifferences(this.table, rows)));
    const different = found[0]!.filter((id) => found.every((ids) => ids.includes(id)));
    if (different.length === 0) return;
    this.log.warn(
      `other nodes were started with another models file: ${different.join(', ')} differ; give all nodes the same file`,
    );
  }

  /** Sets the models of the file; `write` comes before. */
  setFile(models: readonly FileModel[]): void {
    this.redaction.setModelSecrets(models.flatMap(({ runner }) => runner.secrets()));
    const before = this.models;
    let hasChanged = models.length !== before.size;
    const entries = models.map((file) => {
      const known = before.get(file.id);
      const { concurrencyOverride, paused } = this.overridesOf(file.id);
      const concurrency = concurrencyOverride ?? file.concurrency;
      const { model } = known ?? {};
      if (known?.file === file && model?.concurrency === concurrency && model.paused === paused)
        return [file.id, known] as const;
      hasChanged = true;
      if (known?.file !== file) for (const warning of file.warnings()) this.log.warn(warning);
      return [file.id, { file, model: { ...file, concurrency, paused } }] as const;
    });
    this.models = new Map(entries);
    this.aliases = new Map(models.flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id])));
    this.members = groupsOf(this.all());
    if (hasChanged) this.changes.next();
  }
}

/** Returns the models by the ids of their groups. */
function groupsOf(models: readonly Model[]): Map<string, Model[]> {
  const groups = new Map<string, Model[]>();
  for (const model of models) {
    if (model.group === null) continue;
    const members = groups.get(model.group.id);
    if (members === undefined) groups.set(model.group.id, [model]);
    else members.push(model);
  }
  return groups;
}

/** Returns whether slots that were granted by the old row may exceed what the new row allows. */
function losesSlots(before: ModelRow, after: ModelRow): boolean {
  const isLowered = (before.concurrency ?? Infinity) > (after.concurrency ?? Infinity);
  const hasOtherGroup =
    before.groupId !== after.groupId || before.groupConcurrency !== after.groupConcurrency;
  const reservesMore = before.reserveHigh < after.reserveHigh || before.reserveNormal < after.reserveNormal;
  return isLowered || hasOtherGroup || reservesMore;
}

export function toRow(model: FileModel): ModelRow {
  const { id, description, runner, concurrency, group, reserve, timeoutMs, expiresMs, attempts, order } =
    model;
  // Stored as PostgreSQL's text can hold it, or the nodes would differ.
  const stored = storable(description);
  const limits = { concurrency, timeoutMs, expiresMs, attempts };
  const ofGroup = {
    groupId: group?.id ?? null,
    groupConcurrency: group?.concurrency ?? null,
    groupStayMs: group?.stayMs ?? null,
  };
  const reserved = { reserveHigh: reserve.high, reserveNormal: reserve.normal };
  return { id, description: stored, runner: runner.label(), ...limits, order, ...ofGroup, ...reserved };
}
