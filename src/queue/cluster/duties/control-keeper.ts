import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { NotifyChannel } from '../../../database/notify-channel.js';
import { ModelsService } from '../../../models/models.service.js';
import { Duty } from '../../../tools/duty.js';
import { Cluster } from '../cluster.js';
import { readControls } from '../queries/read-controls.js';

const topic = 'control';
const retryMs = 1_000;

/**
 * Reads what operators have set for models and nodes: at once if this node is notified, else after its next heartbeat.
 */
@Injectable()
export class ControlKeeper extends Duty {
  protected readonly intervalMs = 600_000;
  private isDue = false;
  /** True: this node may not know all that is set. */
  private hasFailed = false;
  private reads = 0;
  private newest = 0;
  private division: number | undefined;

  constructor(
    private readonly database: Database,
    private readonly channel: NotifyChannel,
    private readonly models: ModelsService,
    private readonly cluster: Cluster,
  ) {
    super();
    const readSoon = (): void => {
      this.isDue = true;
      this.scheduleWithin(0);
    };
    channel.listen(topic, readSoon);
    cluster.controlsChanged.subscribe(readSoon);
  }

  async runOnce(): Promise<void> {
    this.isDue = false;
    this.hasFailed = true;
    const read = ++this.reads;
    const controls = await readControls(this.database, this.cluster.nodeId);
    this.hasFailed = false;
    // An answer that a later one has overtaken may be from before the change.
    if (read < this.newest) return;
    this.newest = read;
    const { overrides, schedulers, isDraining, division } = controls;
    this.models.setOverrides(overrides);
    this.cluster.setControls(schedulers, isDraining ?? this.cluster.isDrained);
    // The file of another node may have changed it too.
    if (division !== this.division) this.cluster.changes.next({ someLeft: false });
    this.division = division;
  }

  /** Called after a change is committed. This node knows the change when it resolves, the others soon. */
  async publish(): Promise<void> {
    this.channel.sendNow(topic, '');
    await this.runOnce();
  }

  protected override nextIntervalMs(): number {
    if (this.isDue) return 0;
    return this.hasFailed ? retryMs : this.intervalMs;
  }
}
