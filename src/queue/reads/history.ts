import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { type DaySpan, dayOf, spansOfDays } from '../../database/days.js';
import { firstDay } from './queries/days-with-tables.js';

/** Ids in [firstId, beforeId). */
export interface IdRange {
  firstId: string;
  beforeId: string;
}

/** Knows the days that have tables. */
@Injectable()
export class History {
  constructor(private readonly database: Database) {}

  /** Divides the days of these ids that have tables into spans, the newest first. There is at least one. */
  async *spans({ firstId, beforeId }: IdRange): AsyncGenerator<DaySpan> {
    let oldest: number | undefined;
    for (const span of spansOfDays(firstId, beforeId)) {
      yield span;
      // Most lists end in the newest span, and need not know.
      oldest ??= dayOf(await firstDay(this.database));
      if (span.firstDay <= oldest) return;
    }
  }
}
