import { Injectable } from '@nestjs/common';
import { v7 } from 'uuid';
import { Config } from '../../config/config.js';

/** What this process is among those that share the database. */
@Injectable()
export class NodeIdentity {
  readonly id = v7();
  readonly name: string;
  readonly role: Config['role'];

  constructor(config: Config) {
    this.name = config.nodeName;
    this.role = config.role;
  }
}
