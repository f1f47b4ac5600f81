import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import {
  catchError,
  defer,
  distinctUntilChanged,
  EMPTY,
  exhaustMap,
  filter,
  finalize,
  map,
  merge,
  type Observable,
  ReplaySubject,
  share,
  Subject,
  takeUntil,
  throttleTime,
  timer,
} from 'rxjs';
import { Handles } from '../../auth/handles.js';
import { type Looked, ModelFigures } from '../../overview/model-figures.js';
import { toOverviewNodes } from '../../overview/node-view.js';
import { QueueFronts } from '../../overview/queue-fronts.js';
import { ModelsService } from '../../models/models.service.js';
import { QueueEvents } from '../../queue/queue-events.js';
import { ModelControl } from '../model-control.js';
import type { OverviewDto } from '../dto/live.dto.js';

/** What is not in memory is read this often, while somebody looks… */
const lookEveryMs = 2_000;
/** …and what has changed is shown this often at most. */
const showEveryMs = 500;

type Content = Omit<OverviewDto, 'at'>;

/** As it is shown to those who may see ids, and to those who may not: each text is made once for all tabs. */
export class OverviewMessage {
  private readonly texts = new Map<boolean, string>();

  constructor(
    private readonly render: (withIds: boolean) => Content,
    private readonly at = new Date().toISOString(),
  ) {}

  text(withIds: boolean): string {
    return `{"at":"${this.at}",${this.content(withIds).slice(1)}`;
  }

  isLike(other: OverviewMessage): boolean {
    return this.content(true) === other.content(true);
  }

  private content(withIds: boolean): string {
    let text = this.texts.get(withIds);
    if (text === undefined) this.texts.set(withIds, (text = JSON.stringify(this.render(withIds))));
    return text;
  }
}

/** One source for all who look: nothing is read while nobody does. */
@Injectable()
export class OverviewSource implements BeforeApplicationShutdown {
  private readonly log = new Logger(OverviewSource.name);
  private readonly changed = new Subject<void>();
  private readonly stopped = new Subject<void>();
  private looked: Looked | undefined;

  readonly messages: Observable<OverviewMessage> = defer(() =>
    merge(timer(0, lookEveryMs).pipe(exhaustMap(() => this.look())), this.changed),
  ).pipe(
    filter(() => this.looked !== undefined),
    throttleTime(showEveryMs, undefined, { leading: true, trailing: true }),
    map(() => this.message(this.looked!)),
    distinctUntilChanged((last, next) => next.isLike(last)),
    takeUntil(this.stopped),
    finalize(() => {
      this.looked = undefined;
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

  /** Without the database the last figures stay, and what is in memory goes on. */
  private look(): Observable<void> {
    return defer(async () => {
      this.looked = await this.figures.look(this.models.all(), { withFronts: true });
    }).pipe(
      catchError((error: Error) => {
        this.log.debug(`the cluster could not be read: ${error.message}`);
        return EMPTY;
      }),
    );
  }

  private message(looked: Looked): OverviewMessage {
    // As of now, also for those who ask for the text later.
    const models = this.models.all().map((model) => this.control.view(model, looked, (id) => id));
    const nodes = toOverviewNodes(looked.snapshot);
    return new OverviewMessage((withIds) => ({
      models: withIds ? models : models.map((model) => this.withHandles(model)),
      nodes,
    }));
  }

  private withHandles(model: OverviewDto['models'][number]): OverviewDto['models'][number] {
    if (model.queue === undefined) return model;
    const marks = model.queue.marks.map((mark) => ({
      ...mark,
      request_id: this.handles.handleOf(mark.request_id),
    }));
    return { ...model, queue: { ...model.queue, marks } };
  }
}
