import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Actor } from '../../audit/actor.js';
import type { AuditAction } from '../../audit/audit-actions.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import { Clock } from '../../database/clock.js';
import { DomainError } from '../../errors/domain-error.js';
import type { FileModel, Model } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import { changeOverrides, type Overrides, versionOf } from '../../models/overrides.js';
import { type Looked, ModelFigures } from '../../overview/model-figures.js';
import { addressLabels } from '../../queue/circuits/addresses.js';
import { Controls } from '../../queue/cluster/controls.js';
import { QueueEvents } from '../../queue/queue-events.js';
import type { AdminModelDto, ModelChangeDto } from './models.dto.js';

/** Shows operators the models, and applies what they set. */
@Injectable()
export class ModelControl {
  constructor(
    private readonly models: ModelsService,
    private readonly controls: Controls,
    private readonly figures: ModelFigures,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    private readonly events: QueueEvents,
  ) {}

  async list(): Promise<AdminModelDto[]> {
    const models = this.models.all();
    const looked = await this.figures.look(models);
    return models.map((model) => this.view(model, looked));
  }

  /** Returns a model with its version. Throws `unknown_model`. */
  async find(id: string | undefined): Promise<{ view: AdminModelDto; version: string }> {
    const model = id === undefined ? undefined : this.models.get(id);
    if (model === undefined) throw new DomainError('unknown_model', 'There is no such model here.');
    const view = this.view(model, await this.figures.look([model]));
    return { view, version: versionOf(model.id, this.models.overridesOf(model.id)) };
  }

  /** `ifMatch`: the header field as it came. */
  async change(
    actor: Actor,
    id: string | undefined,
    { concurrency, paused, reason }: ModelChangeDto,
    ifMatch: string | undefined,
  ): Promise<{ view: AdminModelDto; version: string }> {
    const base = id === undefined ? undefined : this.models.base(id);
    if (base === undefined) throw new DomainError('unknown_model', 'There is no such model here.');
    const expected = ifMatch?.split(',').map((one) => one.trim());
    const isExpected = (version: string): boolean =>
      expected === undefined || expected.includes('*') || expected.includes(version);
    await this.trail.inTransaction(async (manager) => {
      const changed = await changeOverrides(
        manager,
        base.id,
        { concurrency, paused },
        { at: new Date(this.clock.now()), by: actor.name },
        isExpected,
      );
      await this.audit(manager, actor, base, changed, reason);
    });
    await this.controls.publish();
    return this.find(base.id);
  }

  /** Makes every node probe the addresses of the model that are away. */
  async probe(actor: Actor, id: string | undefined, reason: string | undefined): Promise<AdminModelDto> {
    const { view } = await this.find(id);
    await this.trail.inTransaction((manager) =>
      this.trail.write(manager, actor, { action: 'model.probe', target: view.id, reason }),
    );
    this.events.publish({ probeNow: [view.id] });
    return view;
  }

  private async audit(
    manager: EntityManager,
    actor: Actor,
    { id: target, concurrency: base }: FileModel,
    { before, after }: { before: Overrides; after: Overrides },
    reason: string | undefined,
  ): Promise<void> {
    const note = (action: AuditAction, from: object, to: object): Promise<void> =>
      this.trail.write(manager, actor, { action, target, before: from, after: to, reason });
    if (before.paused !== after.paused) {
      const action = after.paused === null ? 'model.resume' : 'model.pause';
      await note(action, { paused: before.paused ?? false }, { paused: after.paused ?? false });
    }
    if (before.concurrencyOverride === after.concurrencyOverride) return;
    const [from, to] = [before, after].map(({ concurrencyOverride: override }) => ({
      concurrency: { current: override ?? base, base, override },
    }));
    await note('model.concurrency', from!, to!);
  }

  /** `shown`: adds the front of its queue, with what the reader may see of each id. */
  view(model: Model, looked: Looked, shown?: (requestId: string) => string): AdminModelDto {
    const { id, runner, circuit, order, concurrency, reserve, paused } = model;
    const figures = this.figures.of(model, looked, shown);
    const set = this.models.overridesOf(id);
    return {
      id,
      kind: runner.kind,
      preset: runner.presetName(),
      addresses: addressLabels(runner.addresses()),
      circuit: circuit ? 'on' : 'off',
      order,
      concurrency: {
        current: concurrency,
        base: this.models.base(id)!.concurrency,
        override: set.concurrencyOverride,
        overridden_at: set.concurrencyOverriddenAt?.toISOString() ?? null,
        overridden_by: set.concurrencyOverriddenBy,
      },
      reserve: { ...reserve },
      paused: {
        current: paused ?? false,
        base: false,
        override: set.paused,
        overridden_at: set.pausedAt?.toISOString() ?? null,
        overridden_by: set.pausedBy,
      },
      ...figures,
      availability: paused === null ? figures.availability : 'paused',
    };
  }
}
