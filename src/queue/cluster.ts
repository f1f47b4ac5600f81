import { Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import { NodeIdentity } from './node-identity.js';
import type { Beat } from './queries/heartbeat.js';

/** What this node knows of the others, as of its last heartbeat. */
@Injectable()
export class Cluster {
  /** Ids of all nodes. */
  nodes: readonly string[] = [];
  schedulers: readonly string[] = [];
  /** False while heartbeats are late: nothing may be claimed. */
  connected = false;
  someoneIsLost = false;
  /** Beats in a row; a rescuer must have watched for a while before it gives anyone up. */
  beats = 0;

  /** Emits when nodes came or went, with whether any went. */
  readonly changes = new Subject<{ someLeft: boolean }>();

  constructor(private readonly self: NodeIdentity) {}

  /** Whether any other process shares the database. */
  get hasPeers(): boolean {
    return this.nodes.some((id) => id !== this.self.id);
  }

  update(state: Beat): void {
    this.beats++;
    this.someoneIsLost = state.someoneIsLost;
    const someLeft = this.nodes.some((id) => !state.nodes.includes(id));
    const changed = !this.connected || someLeft || state.schedulers.length !== this.schedulers.length;
    this.connected = true;
    this.nodes = state.nodes;
    this.schedulers = state.schedulers;
    if (changed) this.changes.next({ someLeft });
  }

  /** A message came from a node; it is a peer from now on, even before the next heartbeat shows it. */
  heard(nodeId: string): void {
    if (!this.nodes.includes(nodeId)) this.nodes = [...this.nodes, nodeId];
  }

  /** The node cannot be sure any more of what it holds. */
  fence(): void {
    this.connected = false;
    this.beats = 0;
  }
}
