import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.js';
import { embeddedSchemas } from '../../discovery/embedded-schema.js';
import type { Model } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import { NewRequests } from '../../requests/new-requests.js';
import { root } from './prediction.js';

/** Models have no time of creation, but clients read one. */
const unknownTime = new Date(0).toISOString();

/** The models that a key may call, as Replicate describes them. A model has one version, which is its id. */
@Injectable()
export class ReplicateModels {
  constructor(
    private readonly newRequests: NewRequests,
    private readonly models: ModelsService,
  ) {}

  /** Returns the model of an id or an alias, or of a version after its owner and name: `owner/name:version`. */
  named(caller: Caller, reference: string): Model {
    const [, version] = /^[^/:]+\/[^/:]+:(.+)$/.exec(reference) ?? [];
    const isName = version === undefined || this.models.idOf(reference) !== undefined;
    return this.newRequests.modelNamed(caller, isName ? reference : version);
  }

  find(caller: Caller, name: string, base: string): object {
    const model = this.newRequests.modelNamed(caller, name);
    return {
      url: `${base}${root}/models/${name}`,
      ...ownerAndName(name),
      description: model.description,
      visibility: 'private',
      is_official: false,
      github_url: null,
      paper_url: null,
      license_url: null,
      run_count: 0,
      cover_image_url: null,
      default_example: null,
      latest_version: toVersion(model.id, model),
    };
  }

  /** Returns the only version of a model as a list. */
  versions(caller: Caller, name: string): object {
    const model = this.newRequests.modelNamed(caller, name);
    return { previous: null, next: null, results: [toVersion(model.id, model)] };
  }

  /** A version is found by itself, whatever owner and name the path has, as when a prediction is made by it. */
  version(caller: Caller, version: string): object {
    return toVersion(version, this.newRequests.modelNamed(caller, version));
  }

  /** A model is also a deployment of the same name, without releases. */
  deployment(caller: Caller, name: string): object {
    this.newRequests.modelNamed(caller, name);
    return { ...ownerAndName(name), current_release: null };
  }
}

function ownerAndName(name: string): { owner: string; name: string } {
  const [owner, ...rest] = name.split('/');
  return { owner: owner!, name: rest.join('/') };
}

/** `cog_version` is empty, because the Python client refuses null. */
const toVersion = (id: string, model: Model): object => ({
  id,
  created_at: unknownTime,
  cog_version: '',
  openapi_schema: schemaOf(model.id, model.inputSchema),
});

/** Returns an OpenAPI document with the schemas `Input` and `Output`, which clients read. */
const schemaOf = (title: string, input: Readonly<Record<string, unknown>> | null): object => ({
  openapi: '3.1.0',
  info: { title, version: '1' },
  paths: {},
  components: {
    schemas: { ...embeddedSchemas(input ?? { type: 'object' }), Output: { title: 'Output' } },
  },
});
