import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { Model } from './model.js';
import { findDifferences } from './queries/find-differences.js';
import { saveModels } from './queries/save-models.js';

export const MODELS = Symbol('MODELS');

/** The model endpoints of this service. */
@Injectable()
export class ModelsService implements OnModuleInit {
  private readonly log = new Logger(ModelsService.name);
  private readonly models: ReadonlyMap<string, Model>;

  constructor(
    @Inject(MODELS) models: Model[],
    private readonly database: Database,
  ) {
    this.models = new Map(models.map((model) => [model.id, model]));
  }

  async onModuleInit(): Promise<void> {
    const different = await findDifferences(this.database, this.all());
    if (different.length > 0) {
      this.log.warn(
        `other nodes were started with another models file: ${different.join(', ')} differ; give all nodes the same file`,
      );
    }
    await saveModels(this.database, this.all());
  }

  get(id: string): Model | undefined {
    return this.models.get(id);
  }

  /** In the order of the file. */
  all(): Model[] {
    return [...this.models.values()];
  }
}
