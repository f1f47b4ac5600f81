import { finish } from '../../src/queue/runs/queries/finish.js';
import { ending, QueueTables, runOne } from '../support/queue-tables.js';

describe('the database itself refuses', () => {
  let tables: QueueTables;

  /** Runs one request that succeeds. */
  beforeAll(async () => {
    tables = await QueueTables.create();
    const database = tables.session();
    await finish(database, [ending(await runOne(database, await tables.node(database)))]);
  });
  afterAll(() => tables.drop());

  test.each([
    [
      'a state that is none',
      `state = 'PAUSED', outcome = NULL, completed_at = NULL, output = NULL`,
      'request_state_is_known',
    ],
    ['an outcome that is none', `outcome = 'lost', error = '{}', output = NULL`, 'request_outcome_is_known'],
    ['a completed request without an outcome', `outcome = NULL`, 'request_completed_has_outcome_and_time'],
    ['a completed request without its time', `completed_at = NULL`, 'request_completed_has_outcome_and_time'],
    ['an outcome of a request that goes on', `state = 'IN_QUEUE'`, 'request_completed_has_outcome_and_time'],
    [
      'a run that never started',
      `state = 'IN_PROGRESS', outcome = NULL, completed_at = NULL, started_at = NULL`,
      'request_in_progress_has_started',
    ],
    ['a failure without an error', `outcome = 'failed', output = NULL`, 'request_error_only_without_success'],
    ['a success with an error', `error = '{}'`, 'request_error_only_without_success'],
    ['a failure with an output', `outcome = 'failed', error = '{}'`, 'request_output_only_with_success'],
    ['more failures than attempts', `failed_attempts = 9`, 'request_counts_are_sane'],
  ])('%s', async (_name, change, constraint) => {
    await expect(tables.rows(`UPDATE request SET ${change}`)).rejects.toThrow(constraint);
  });
});
