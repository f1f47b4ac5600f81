import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.js';
import { embeddedSchemas } from '../../discovery/embedded-schema.js';
import { NewRequests } from '../../requests/new-requests.js';
import { root } from './prediction.js';

/** Models have no time of creation, but clients read one. */
const unknownTime = new Date(0).toISOString();

/** The models that a key may call, as Replicate describes them. A model has one version, which is its id. */
@Injectable()
export class ReplicateModels {
  constructor(private readonly newRequests: NewRequests) {}

  find(caller: Caller, name: string, base: string): object {
    const { id, description, inputSchema } = this.newRequests.modelNamed(caller, name);
    const segments = name.split('/');
    return {
      url: `${base}${root}/models/${name}`,
      owner: segments[0],
      name: segments.slice(1).join('/'),
      description,
      visibility: 'private',
      is_official: false,
      github_url: null,
      paper_url: null,
      license_url: null,
      run_count: 0,
      cover_image_url: null,
      default_example: null,
      latest_version: {
        ...{ id, created_at: unknownTime, cog_version: null },
        openapi_schema: schemaOf(id, inputSchema),
      },
    };
  }
}

/** Returns an OpenAPI document with the schemas `Input` and `Output`, which clients read. */
const schemaOf = (title: string, input: Readonly<Record<string, unknown>> | null): object => ({
  openapi: '3.1.0',
  info: { title, version: '1' },
  paths: {},
  components: {
    schemas: { ...embeddedSchemas(input ?? { type: 'object' }, 'Input'), Output: { title: 'Output' } },
  },
});
