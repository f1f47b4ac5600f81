import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { ModelEntity } from './model.entity.js';
import type { Model } from './model.js';
import { findDifferences, type ModelRow } from './queries/find-differences.js';

export const MODELS = Symbol('MODELS');

/** In one line of the log. */
const shownModels = 50;

@Injectable()
export class ModelsService implements OnModuleInit, OnApplicationBootstrap {
  private readonly log = new Logger(ModelsService.name);
  private readonly models: ReadonlyMap<string, Model>;

  constructor(
    @Inject(MODELS) models: Model[],
    @InjectRepository(ModelEntity) private readonly table: Repository<ModelEntity>,
  ) {
    this.models = new Map(models.map((model) => [model.id, model]));
  }

  async onModuleInit(): Promise<void> {
    const rows = this.all().map(toRow);
    const different = await findDifferences(this.table, rows);
    if (different.length > 0) {
      this.log.warn(
        `other nodes were started with another models file: ${different.join(', ')} differ; give all nodes the same file`,
      );
    }
    // Where people's queries join it. In the order of the ids, nodes that start together do not deadlock; what is right
    // already is not written. Models that left the file stay, as old requests name them.
    rows.sort((one, other) => (one.id < other.id ? -1 : 1));
    await this.table.upsert(rows, { conflictPaths: ['id'], skipUpdateIfNoValuesChanged: true });
  }

  onApplicationBootstrap(): void {
    const ids = [...this.models.keys()];
    const shown = ids.slice(0, shownModels).join(', ');
    const more = ids.length > shownModels ? ` and ${ids.length - shownModels} more` : '';
    this.log.log(`serves ${ids.length} ${ids.length === 1 ? 'model' : 'models'}: ${shown}${more}`);
  }

  get(id: string): Model | undefined {
    return this.models.get(id);
  }

  all(): Model[] {
    return [...this.models.values()];
  }
}

function toRow({ id, description, runner, concurrency, timeoutMs, expiresMs, attempts }: Model): ModelRow {
  // As PostgreSQL's text can hold it, or the nodes would differ.
  const stored = description.toWellFormed();
  return { id, description: stored, runner: runner.label(), concurrency, timeoutMs, expiresMs, attempts };
}
