import { unwatchFile, watchFile } from 'node:fs';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { v7 } from 'uuid';
import { type Actor, ownNode } from '../../audit/actor.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import { Config, ConfigError } from '../../config/config.js';
import { NotifyChannel } from '../../database/notify-channel.js';
import { DomainError } from '../../errors/domain-error.js';
import type { FileModel } from '../../models/model.js';
import { ModelsFile } from '../../models/models-file.js';
import { ModelsService, toRow } from '../../models/models.service.js';
import { Controls } from '../../queue/cluster/controls.js';
import { ModelLoads } from '../../queue/reads/model-loads.js';
import type { ModelsReloadDto } from './models.dto.js';

const topic = 'models';
/** The file is polled, which also notices a replaced file and a link with a new target. */
const lookEveryMs = 1_000;
/** An editor may write the file in several steps, so it is read this long after the last change. */
const settledAfterMs = 300;
const triedAgainAfterMs = 5_000;
/** A changed file may reach the machines one by one, so they are compared this long after a reload. */
const sameEverywhereAfterMs = 120_000;

/** Reads the models file again after a call, a signal, a message of another node, or a change. All or nothing. */
@Injectable()
export class ModelsReload implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger(ModelsReload.name);
  private readonly id = v7();
  private reading: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private comparison: NodeJS.Timeout | undefined;
  private toldFault = '';

  constructor(
    private readonly file: ModelsFile,
    private readonly models: ModelsService,
    private readonly loads: ModelLoads,
    private readonly controls: Controls,
    private readonly trail: AuditTrail,
    private readonly channel: NotifyChannel,
    private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    watchFile(this.file.path, { interval: lookEveryMs, persistent: false }, this.onFileChange);
    // The watch sees no change that came before it, after the read at the start of the process.
    this.timer = setTimeout(() => {
      if (this.file.hasChanged()) this.onFileChange();
    }, settledAfterMs).unref();
    this.channel.listen(topic, (sender) => {
      if (sender === this.id) return;
      // The file of this node may be arriving at this moment.
      this.schedule(settledAfterMs);
      clearTimeout(this.comparison);
      this.comparison = setTimeout(() => this.compare(), sameEverywhereAfterMs).unref();
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopWatching();
    clearTimeout(this.comparison);
    await this.reading;
  }

  stopWatching(): void {
    unwatchFile(this.file.path, this.onFileChange);
    clearTimeout(this.timer);
  }

  /** Makes all nodes read their models files. Throws `invalid_models_file`. */
  async reload(actor: Actor, reason: string | undefined): Promise<ModelsReloadDto> {
    const changes = await this.oneByOne(() => this.readNow(actor, reason));
    this.channel.sendNow(topic, this.id);
    return changes;
  }

  /** Reloads without a call: what is wrong is logged. */
  async reloadHere(): Promise<void> {
    try {
      const { added, changed, removed } = await this.oneByOne(() =>
        this.readNow(ownNode(this.config.nodeName)),
      );
      this.toldFault = '';
      if (added.length + changed.length + removed.length > 0) this.channel.sendNow(topic, this.id);
    } catch (error) {
      const { message } = error as Error;
      if (error instanceof DomainError && error.code === 'invalid_models_file') {
        const faults = error.options.errors!.map(({ message: fault }) => fault).join('\n');
        if (faults !== this.toldFault) this.log.error(`${message}\n${faults}`);
        this.toldFault = faults;
        return;
      }
      this.log.warn(
        `the models file could not be applied and is read again in ${triedAgainAfterMs / 1_000} s: ${message}`,
      );
      this.schedule(triedAgainAfterMs);
    }
  }

  private readonly onFileChange = (): void => this.schedule(settledAfterMs);

  private schedule(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.reloadHere(), ms).unref();
  }

  private oneByOne<T>(work: () => Promise<T>): Promise<T> {
    const done = this.reading.then(work);
    this.reading = done.catch(() => undefined);
    return done;
  }

  private async readNow(actor: Actor, reason?: string): Promise<ModelsReloadDto> {
    const before = new Map(this.models.file.map((model) => [model.id, model]));
    const models = this.readFile().map((model) => {
      const known = before.get(model.id);
      return known !== undefined && JSON.stringify(known) === JSON.stringify(model) ? known : model;
    });
    const ids = new Set(models.map(({ id }) => id));
    const removed = [...before.keys()].filter((id) => !ids.has(id));
    const loads = await this.loads.of(removed);
    const changes = {
      added: models.flatMap(({ id }) => (before.has(id) ? [] : [id])),
      changed: models.flatMap((model) =>
        before.has(model.id) && before.get(model.id) !== model ? [model.id] : [],
      ),
      removed: removed.map((id, i) => ({ id, waiting: loads[i]!.waiting })),
    };
    const isSame = changes.added.length + changes.changed.length + removed.length === 0;
    if (!isSame) await this.models.warnOfDifferences(models.map(toRow), [...before.values()].map(toRow));
    await this.trail.inTransaction(async (manager) => {
      if (!isSame) await this.models.write(manager, models);
      if (!isSame || actor.keyId !== null)
        await this.trail.write(manager, actor, { action: 'models.reload', after: changes, reason });
    });
    this.models.setFile(models);
    if (isSame) return changes;
    await this.controls.publish();
    this.say(changes);
    return changes;
  }

  private readFile(): FileModel[] {
    try {
      return this.file.read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const errors = error.message.split('\n').map((message) => ({ path: '', message }));
      throw new DomainError(
        'invalid_models_file',
        'The models file is invalid, so the models were not changed. Fix what "errors" names.',
        {
          errors,
        },
      );
    }
  }

  private say({ added, changed, removed }: ModelsReloadDto): void {
    const gone = removed.map(({ id, waiting }) =>
      waiting === 0 ? id : `${id} (${waiting} requests wait for it)`,
    );
    const parts = Object.entries({ new: added, changed, removed: gone });
    const changes = parts.flatMap(([what, ids]) => (ids.length === 0 ? [] : [`${what}: ${ids.join(', ')}`]));
    this.log.log(`the models file was read again; ${changes.join('; ')}`);
  }

  private compare(): void {
    this.models.warnOfDifferences(this.models.file.map(toRow)).catch(() => undefined);
  }
}
