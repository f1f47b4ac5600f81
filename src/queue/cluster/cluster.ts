import { Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import { v7 } from 'uuid';
import type { Beat } from '../queries/heartbeat.js';

/** A node that has not beaten for so long is given up by the others. */
export const lostAfterMs = 6_000;
/** A node that could not beat for so long gives its runs up by itself: earlier than the others do. */
const selfFenceMs = 5_000;

/** This node among those that share the database, and what it knows of the others, as of its last heartbeat. */
@Injectable()
export class Cluster {
  readonly nodeId = v7();
  nodes: readonly string[] = [];
  hasLostNodes = false;
  hasOverdueLeases = false;
  /** In a row; a rescuer must have watched for a while before it gives a node up. */
  beats = 0;
  /** The nodes that run requests. */
  schedulers: readonly string[] = [];
  /** It starts nothing more, by an operator's word or because it stops. */
  isDraining = false;
  isStopping = false;
  private isMember = false;
  private beatAt = 0;

  readonly changes = new Subject<{ someLeft: boolean }>();
  /** Operators have set something else, by the last heartbeat. */
  readonly controlsChanged = new Subject<void>();
  private controls: string | undefined;

  /** False while heartbeats are late. By the clock: a frozen process goes on with its sockets before its timers. */
  get connected(): boolean {
    return this.isMember && performance.now() - this.beatAt < selfFenceMs;
  }

  /** The node still counts on what it holds, and can do so no longer. */
  get mustFence(): boolean {
    return this.isMember && !this.connected;
  }

  get hasPeers(): boolean {
    return this.nodes.some((id) => id !== this.nodeId);
  }

  /** `beatAt`: when the heartbeat was sent, as `performance.now()`. */
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

  /** What operators have said of the nodes. */
  setControls(schedulers: readonly string[], isDrained: boolean): void {
    const isDraining = isDrained || this.isStopping;
    const changed = isDraining !== this.isDraining || schedulers.join() !== this.schedulers.join();
    this.isDraining = isDraining;
    this.schedulers = schedulers;
    if (changed) this.changes.next({ someLeft: false });
  }

  /** A message came from a node: it is a peer, even before the next heartbeat shows it. */
  markSeen(nodeId: string): void {
    if (!this.nodes.includes(nodeId)) this.nodes = [...this.nodes, nodeId];
  }

  fence(): void {
    this.isMember = false;
    this.beats = 0;
  }
}
