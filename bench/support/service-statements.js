/**
 * The service's own statements on the service's own kind of pool, which the bench itself runs.
 * @typedef {object} ServiceStatements
 * @property {object} database the service's `Database`
 * @property {(database: object, options: object) => Promise<object[]>} claim
 * @property {(database: object, items: object[]) => Promise<object[]>} submit
 * @property {(database: object, items: object[]) => Promise<boolean[]>} finish
 * @property {(database: object, line: object) => Promise<object[]>} release
 * @property {string} nodeId of a node that is registered and runs nothing else
 */

/**
 * @param {import('./bench.js').Bench} bench
 * @param {string} databaseUrl
 * @returns {Promise<ServiceStatements>}
 */
export async function serviceStatements(bench, databaseUrl) {
  const { reachDatabase } = await bench.built.load('database/reach.js');
  const { createStatementPool } = await bench.built.load('database/statement-pool.js');
  const { Database } = await bench.built.load('database/database.js');
  const { claim } = await bench.built.load('queue/runs/queries/claim.js');
  const { submit } = await bench.built.load('queue/submit/queries/submit.js');
  const { release } = await bench.built.load('queue/waiting/queries/release.js');
  const { finish } = await bench.built.load('queue/runs/queries/finish.js');
  const pool = createStatementPool({ sessions: await reachDatabase(databaseUrl), size: 2 });
  bench.atEndOfScene(() => pool.end());
  const dataSource = { query: async (text, values) => (await pool.query(text, values)).rows };
  const [{ id: nodeId }] = await dataSource.query(
    `INSERT INTO node (id, name, role) VALUES (gen_random_uuid(), 'bench', 'scheduler') RETURNING id`,
  );
  return {
    database: new Database(pool, { databasePreparedStatements: true }),
    claim,
    submit,
    finish,
    release,
    nodeId,
    dataSource,
  };
}

/**
 * @param {import('./service-statements.js').ServiceStatements} statements
 * @param {object} options
 * @param {string} options.modelId
 * @param {number} options.limit
 * @param {object | null} options.floor
 */
export function claimOf({ claim, database, nodeId }, { modelId, limit, floor }) {
  return claim(database, { modelId, nodeId, limit, timeoutMs: 60_000, floor, byMs: Date.now() + 60_000 });
}

/** Finishes the claimed runs as successful no-ops. */
export function finishOf({ finish, database }, claimed) {
  return finish(
    database,
    claimed.map(({ id, token, input }) => ({
      requestId: id,
      token,
      attemptOutcome: 'succeeded',
      output: input,
      error: null,
      message: null,
    })),
  );
}
