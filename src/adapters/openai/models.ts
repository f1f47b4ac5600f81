import { Injectable } from '@nestjs/common';
import { type Caller, mayUse } from '../../auth/caller.js';
import type { Model } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import { NewRequests } from '../../requests/new-requests.js';

/** The models that a key may call, under the names that their entries give them. */
@Injectable()
export class OpenAiModels {
  constructor(
    private readonly models: ModelsService,
    private readonly requests: NewRequests,
  ) {}

  list(caller: Caller): object {
    const usable = this.models.all().filter(({ id }) => mayUse(caller, id));
    return { object: 'list', data: usable.flatMap((model) => namesOf(model).map(toModel)) };
  }

  find(caller: Caller, name: string | undefined): object {
    this.requests.modelNamed(caller, name);
    return toModel(name!);
  }
}

const namesOf = ({ id, aliases }: Model): readonly string[] => (aliases.length > 0 ? aliases : [id]);

/** Models have no time of creation. */
const toModel = (id: string): object => ({ id, object: 'model', created: 0, owned_by: 'now-serving' });
