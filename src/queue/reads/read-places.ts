import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { moveReadPlace, readPlace } from './queries/read-places.js';

/** Stores with each request how far its output was read, for calls that do not name a position. */
@Injectable()
export class ReadPlaces {
  constructor(private readonly database: Database) {}

  /** null: nothing was read. */
  of(requestId: string): Promise<string | null> {
    return readPlace(this.database, requestId);
  }

  /** Returns false if another call has read from the same place meanwhile. */
  move(requestId: string, from: string | null, to: string): Promise<boolean> {
    return moveReadPlace(this.database, requestId, from, to);
  }
}
