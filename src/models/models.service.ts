import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import type { Model } from './model.js';
import { loadModelsFile } from './models-file.js';
import { saveModels } from './queries/save-models.js';

/** The models of `MODELS_FILE`, read once; a fault in the file stops the start. */
@Injectable()
export class ModelsService implements OnModuleInit {
  private readonly models: ReadonlyMap<string, Model>;

  constructor(
    config: Config,
    private readonly database: Database,
  ) {
    this.models = new Map(
      loadModelsFile(config.modelsFile, config.environment).map((model) => [model.id, model]),
    );
  }

  async onModuleInit(): Promise<void> {
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
