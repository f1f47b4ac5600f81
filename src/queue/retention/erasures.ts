import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import type { Queries } from '../../database/statement.js';
import { erase } from './queries/erase.js';

/** Erases the content of completed requests: inputs, outputs, logs and messages. */
@Injectable()
export class Erasures {
  constructor(private readonly database: Database) {}

  /**
   * Erases one request. `accounting` runs in the commit of the erasure. Returns false if the request has not completed,
   * or was erased before.
   */
  one(requestId: string, accounting: (queries: Queries) => Promise<void>): Promise<boolean> {
    return this.database.transaction(async (query) => {
      const isErased = await this.among({ query }, requestId);
      if (isErased) await accounting({ query });
      return isErased;
    });
  }

  /** Erases one request in the transaction that these statements are in. */
  among(queries: Queries, requestId: string): Promise<boolean> {
    return erase(queries, requestId);
  }
}
