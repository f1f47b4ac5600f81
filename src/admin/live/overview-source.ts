import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import {
  catchError,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  finalize,
  interval,
  map,
  merge,
  type Observable,
  of,
  ReplaySubject,
  scan,
  share,
  Subject,
  takeUntil,
  tap,
  throttleTime,
  timer,
} from 'rxjs';
import { Handles } from '../../auth/handles.js';
import { clock } from '../../database/clock.js';
import { DatabaseWatch } from '../../database/database-watch.js';
import { type Looked, ModelFigures } from '../../overview/model-figures.js';
import { DatabaseDisk } from '../../files/database-disk.js';
import { toOverviewNodes } from '../../overview/node-view.js';
import { QueueFronts } from '../../overview/queue-fronts.js';
import { ModelsService } from '../../models/models.service.js';
import { QueueEvents } from '../../queue/queue-events.js';
import type { OverviewAliveDto } from './live.dto.js';
import { ModelControl } from '../models/model-control.js';
import { toTime } from '../../tools/to-time.js';
import { changesOf, type OverviewChanges, type OverviewContent } from './overview-changes.js';

/** Interval at which data that is not in memory is read, while there are readers. */
const lookEveryMs = 2_000;
/** Changes are shown at most once in this time. */
const showEveryMs = 500;

/**
 * The state of all models and nodes at one moment, and the changes since the previous one. It has one form for readers
 * who may see ids, and one for those who may not. Each text is made once for all tabs.
 */
export class OverviewMessage {
  /** undefined: the message is the first, or has other models or nodes. */
  private readonly changes: OverviewChanges | undefined;
  private readonly texts = new Map<string, string>();

  constructor(
    readonly content: OverviewContent,
    private readonly handleOf: (requestId: string) => string,
    before?: OverviewMessage,
    private readonly at = toTime(clock.now()),
  ) {
    this.changes = before && changesOf(before.content, content);
  }

  get isEmpty(): boolean {
    return this.changes !== undefined && this.changes.models.length + this.changes.nodes.length === 0;
  }

  /** `isFirst`: its reader has received no message before. */
  event(withIds: boolean, isFirst: boolean): { type: string; data: string } {
    if (isFirst || this.changes === undefined)
      return { type: 'overview', data: this.text('overview', withIds, this.content) };
    return { type: 'changes', data: this.text('changes', withIds, this.changes) };
  }

  private text(type: string, withIds: boolean, shown: OverviewContent | OverviewChanges): string {
    const key = `${type} ${withIds}`;
    let text = this.texts.get(key);
    if (text === undefined) {
      const { models, nodes } = shown;
      const seen = withIds ? models : models.map((model) => this.withHandles(model));
      this.texts.set(key, (text = JSON.stringify({ at: this.at, models: seen, nodes })));
    }
    return text;
  }

  private withHandles(model: Shown): Shown {
    const { queue } = model;
    if (!queue) return model;
    const marks = queue.marks.map((mark) => ({ ...mark, request_id: this.handleOf(mark.request_id) }));
    const gone = 'gone' in queue && { gone: queue.gone.map((id) => this.handleOf(id)) };
    return Object.assign({}, model, { queue: Object.assign({}, queue, gone, { marks }) });
  }
}

type Shown = OverviewContent['models'][number] | OverviewChanges['models'][number];

/** One source for all readers. Nothing is read while there are none. */
@Injectable()
export class OverviewSource implements BeforeApplicationShutdown {
  private readonly log = new Logger(OverviewSource.name);
  private readonly changed = new Subject<void>();
  private readonly stopped = new Subject<void>();
  private looked: Looked | undefined;

  /** The time at which `looked` was read, in milliseconds since 1970. */
  private readAtMs: number | undefined;

  /** Tests may shorten it. */
  aliveEveryMs = 3_000;
  /**
   * Emits at once, and repeatedly without a change. A browser hides comments from its page, and the page could not
   * distinguish silence from a lost connection. The event shows how current the figures are.
   */
  readonly alive: Observable<{ type: string; data: string }> = defer(() => {
    void this.lookAtDisk();
    return merge(of(undefined), this.occasions);
  }).pipe(map(() => ({ type: 'alive', data: JSON.stringify(this.state()) })));
  private readonly occasions = defer(() =>
    merge(
      interval(this.aliveEveryMs).pipe(tap(() => void this.lookAtDisk())),
      this.watch.changes,
      this.diskChanged,
    ),
  ).pipe(takeUntil(this.stopped), share());
  private readonly diskChanged = new Subject<void>();
  private diskFault: string | null = null;
  private isLookingAtDisk = false;

  readonly messages: Observable<OverviewMessage> = defer(() =>
    merge(timer(0, lookEveryMs).pipe(exhaustMap(() => this.look())), this.changed),
  ).pipe(
    filter(() => this.looked !== undefined),
    throttleTime(showEveryMs, undefined, { leading: true, trailing: true }),
    scan<unknown, OverviewMessage, undefined>((last) => this.message(this.looked!, last), undefined),
    filter(({ isEmpty }) => !isEmpty),
    takeUntil(this.stopped),
    finalize(() => {
      this.looked = this.readAtMs = undefined;
      this.fronts.forget();
    }),
    share({ connector: () => new ReplaySubject(1) }),
  );

  constructor(
    private readonly models: ModelsService,
    private readonly figures: ModelFigures,
    private readonly fronts: QueueFronts,
    private readonly control: ModelControl,
    private readonly handles: Handles,
    private readonly watch: DatabaseWatch,
    private readonly disk: DatabaseDisk,
    events: QueueEvents,
  ) {
    const change = (): void => this.changed.next();
    events.subscribe(change);
    events.on('request.started', change);
    events.on('request.completed', change);
    models.changes.subscribe(change);
  }

  beforeApplicationShutdown(): void {
    this.stopped.next();
  }

  /** Without the database the last figures stay, and changes in memory are still shown. */
  private look(): Observable<void> {
    return defer(async () => {
      this.looked = await this.figures.look(this.models.all(), { withFronts: true });
      this.readAtMs = clock.now();
    }).pipe(
      catchError((error: Error) => {
        this.log.debug(`the cluster could not be read: ${error.message}`);
        return EMPTY;
      }),
    );
  }

  /** Reads the state of the disk. `alive` does not wait for it, and is emitted again if this finds a change. */
  private async lookAtDisk(): Promise<void> {
    if (this.isLookingAtDisk) return;
    this.isLookingAtDisk = true;
    try {
      const fault = (await this.disk.fault()) ?? (await this.disk.shortage()) ?? null;
      if (fault === this.diskFault) return;
      this.diskFault = fault;
      this.diskChanged.next();
    } catch (error) {
      this.log.debug(`the disk could not be checked: ${(error as Error).message}`);
    } finally {
      this.isLookingAtDisk = false;
    }
  }

  private state(): OverviewAliveDto {
    const { isUp, awaySinceMs } = this.watch.state;
    return {
      at: toTime(clock.now()),
      database: isUp ? 'up' : 'away',
      database_away_since: toTime(awaySinceMs ?? null),
      disk_fault: this.diskFault,
      read_at: toTime(this.readAtMs ?? null),
    };
  }

  private message(looked: Looked, last: OverviewMessage | undefined): OverviewMessage {
    // Made now, even for readers who ask for the text later.
    const models = this.models.all().map((model) => this.control.view(model, looked, (id) => id));
    const nodes = toOverviewNodes(looked.snapshot);
    return new OverviewMessage({ models, nodes }, (id) => this.handles.handleOf(id), last);
  }
}
