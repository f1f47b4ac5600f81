import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../../errors/database-error.js';
import { ResultUnstored } from './runner.js';

const againAfterMs = 500;

/** The memory of this node for results that cannot be stored now, because a disk is full or the database is away. */
@Injectable()
export class UnstoredResults {
  /** For all runs of this node together. */
  maxBytes = 64 * 1024 ** 2;
  private taken = 0;

  get bytes(): number {
    return this.taken;
  }

  /** Returns false if there is no more of it. */
  take(bytes: number): boolean {
    if (this.taken + bytes > this.maxBytes) return false;
    this.taken += bytes;
    return true;
  }

  release(bytes: number): void {
    this.taken -= bytes;
  }

  /**
   * Retries until the database takes a result of this many bytes. Throws `ResultUnstored` if there is no memory to
   * keep it until then.
   */
  async whileStored<T>(bytes: number, store: () => Promise<T>): Promise<T> {
    let isKept = false;
    try {
      for (;;) {
        try {
          return await store();
        } catch (error) {
          if (!isDatabaseUnavailable(error)) throw error;
          isKept ||= this.take(bytes);
          if (!isKept) throw new ResultUnstored((error as Error).message, error);
        }
        await delay(againAfterMs);
      }
    } finally {
      if (isKept) this.release(bytes);
    }
  }
}
