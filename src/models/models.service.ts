import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { ModelEntity } from './model.entity.js';
import type { Model } from './model.js';

export const MODELS = Symbol('MODELS');

/** The model endpoints of this service. */
@Injectable()
export class ModelsService implements OnModuleInit {
  private readonly models: ReadonlyMap<string, Model>;

  constructor(
    @Inject(MODELS) models: Model[],
    @InjectRepository(ModelEntity) private readonly rows: Repository<ModelEntity>,
  ) {
    this.models = new Map(models.map((model) => [model.id, model]));
  }

  async onModuleInit(): Promise<void> {
    await this.save();
  }

  get(id: string): Model | undefined {
    return this.models.get(id);
  }

  /** In the order of the file. */
  all(): Model[] {
    return [...this.models.values()];
  }

  /**
   * Copies the models file into the `model` table, where people's queries join it. Nodes that start together write in
   * the order of the ids, so none waits for another in a circle; a row that is right already is not written. Models
   * that left the file stay, as old requests name them.
   */
  private async save(): Promise<void> {
    const rows = this.all().map(
      ({ id, description, runner, concurrency, timeoutMs, expiresMs, attempts }) => ({
        id,
        description,
        runner: runner.label(),
        concurrency,
        timeoutMs,
        expiresMs,
        attempts,
      }),
    );
    rows.sort((one, other) => (one.id < other.id ? -1 : 1));
    await this.rows.upsert(rows, { conflictPaths: ['id'], skipUpdateIfNoValuesChanged: true });
  }
}
