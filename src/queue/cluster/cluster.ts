import { Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import { v7 } from 'uuid';
import type { Beat } from './queries/heartbeat.js';

/** The other nodes give up a node that has sent no heartbeat for this long. */
export const lostAfterMs = 6_000;
/** A node that could not send a heartbeat for this long gives up its runs by itself, before the others do. */
const selfFenceMs = 5_000;

/** This node, and what its last heartbeat showed of the other nodes on the same database. */
@Injectable()
export class Cluster {
  readonly nodeId = v7();
  nodes: readonly string[] = [];
  hasLostNodes = false;
  hasOverdueLeases = false;
  /** Heartbeats in a row. A rescuer must have watched for a while before it gives up a node. */
  beats = 0;
  /** The nodes that run requests. */
  schedulers: readonly string[] = [];
  /** True: an operator drains the node. Neither it nor workers that ask it start anything more. */
  isDrained = false;
  /**
   * True: the process is stopping. It gives runs to workers until its port closes, because their runs do not end with
   * it.
   */
  isStopping = false;
  /** True: the node starts nothing more, because an operator drains it or because it stops. */
  isDraining = false;
  private isMember = false;
  private beatAt = 0;

  readonly changes = new Subject<{ someLeft: boolean }>();
  /** Emits when a heartbeat shows that operators have changed a setting. */
  readonly controlsChanged = new Subject<void>();
  private controls: string | undefined;

  /**
   * False while heartbeats are late. It reads the clock, because a frozen process resumes its sockets before its
   * timers.
   */
  get connected(): boolean {
    return this.isMember && performance.now() - this.beatAt < selfFenceMs;
  }

  /** True if the node still counts on its leases and slots but its heartbeat is too late for that. */
  get mustFence(): boolean {
    return this.isMember && !this.connected;
  }

  get hasPeers(): boolean {
    return this.nodes.some((id) => id !== this.nodeId);
  }

  /** `beatAt`: the `performance.now()` at which the heartbeat was sent. */
  update(beat: Beat, beatAt: number): void {
    const { nodes, schedulers, hasLostNodes, hasOverdueLeases, controls } = beat;
    const someLeft = this.nodes.some((id) => !nodes.includes(id));
    const changed = !this.isMember || someLeft || schedulers.length !== this.schedulers.length;
    this.beats++;
    this.beatAt = beatAt;
    this.isMember = true;
    this.nodes = nodes;
    this.schedulers = schedulers;
    this.hasLostNodes = hasLostNodes;
    this.hasOverdueLeases = hasOverdueLeases;
    if (changed) this.changes.next({ someLeft });
    if (controls === this.controls) return;
    this.controls = controls;
    this.controlsChanged.next();
  }

  /** Applies what operators have set for the nodes. */
  setControls(schedulers: readonly string[], isDrained: boolean): void {
    const isDraining = isDrained || this.isStopping;
    // The row of a node that stops says that it is drained, whether an operator drains it or not.
    if (!this.isStopping) this.isDrained = isDrained;
    const changed = isDraining !== this.isDraining || schedulers.join() !== this.schedulers.join();
    this.isDraining = isDraining;
    this.schedulers = schedulers;
    if (changed) this.changes.next({ someLeft: false });
  }

  /** Notes that a message came from a node: it is a peer even before the next heartbeat shows it. */
  markSeen(nodeId: string): void {
    if (!this.nodes.includes(nodeId)) this.nodes = [...this.nodes, nodeId];
  }

  fence(): void {
    this.isMember = false;
    this.beats = 0;
  }
}
