import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BuiltService, apiKey } from './built-service.js';
import { spawnListening } from './child.js';
import { cpuMsOf, cpuMsOfChildren } from './cpu.js';
import { installPeers, peersDirectory } from './peers.js';
import { ModelServer } from './model-server.js';
import { describeProfiles, profileArgs } from './profile.js';
import { startPostgres, withClient } from './postgres.js';
import { startRedis } from './redis.js';
import { wrk } from './wrk.js';
import { wrkUntil } from './wrk-until.js';

const template = 'bench_template';
const shortTurnSeconds = 2;
const warmUpSeconds = 3;

/**
 * The extent of the measurements.
 * @typedef {object} Extent
 * @property {boolean} short
 * @property {number} rounds
 * @property {boolean} profile whether the service's processes write CPU profiles
 */

/** The base of all scenes: one PostgreSQL, one Redis, and processes that end with their scene. */
export class Bench {
  /** @type {(() => Promise<void>)[]} */
  #ofScene = [];
  #databases = 0;
  #startMs = 0;

  /** @param {Extent} extent */
  static async start(extent) {
    const bench = new Bench();
    bench.short = extent.short;
    bench.rounds = extent.rounds;
    bench.profile = extent.profile;
    bench.directory = mkdtempSync(join(tmpdir(), 'nowserving-bench-'));
    chmodSync(bench.directory, 0o711);
    process.once('exit', () => rmSync(bench.directory, { recursive: true, force: true, maxRetries: 5 }));
    installPeers();
    bench.built = new BuiltService(bench.directory);
    bench.model = await ModelServer.start();
    bench.postgres = await startPostgres(bench.built, bench.directory);
    await bench.#makeTemplate();
    bench.redis = await startRedis(bench.directory, { durable: true });
    bench.quickRedis = await startRedis(bench.directory, { durable: false });
    return bench;
  }

  /**
   * Sets the duration of a load's turn, which the scene defines.
   * @param {{ turnSeconds?: number }} scene
   */
  beginScene({ turnSeconds = 5 }) {
    this.turnSeconds = this.short ? shortTurnSeconds : turnSeconds;
    this.warmUpSeconds = this.short ? shortTurnSeconds : warmUpSeconds;
  }

  /** Creates a migrated database with the bench's key, which is dropped with the scene. */
  serviceDatabase() {
    return this.#database(template);
  }

  emptyDatabase() {
    return this.#database('template1');
  }

  /** @param {Parameters<BuiltService['spawn']>[0]} options */
  async service(options) {
    const env = { BENCH_MODEL_URL: this.model.url, ...options.env };
    const nodeArgs = [...(options.nodeArgs ?? []), ...(this.profile ? profileArgs(this.#profiles()) : [])];
    const started = performance.now();
    const listening = await this.built.spawn({ ...options, env, nodeArgs });
    this.#startMs = performance.now() - started;
    return this.#own(listening);
  }

  /**
   * A program of bench/peers.
   * @param {string} program
   * @param {Record<string, string>} env
   */
  async peer(program, env) {
    return this.#own(
      await spawnListening({
        args: [join(peersDirectory, program)],
        cwd: peersDirectory,
        log: join(this.directory, `peer-${this.#ofScene.length}.log`),
        env: { NODE_ENV: 'production', BENCH_MODEL_URL: this.model.url, ...env },
      }),
    );
  }

  /** Ends the processes of the scene, the last first; with `profile`, prints where its services spent their time. */
  async endScene() {
    for (const end of this.#ofScene.splice(0).reverse()) await end();
    if (!this.profile || !existsSync(this.#profiles())) return undefined;
    const copy = mkdtempSync(join(tmpdir(), 'nowserving-profile-'));
    cpSync(this.#profiles(), copy, { recursive: true });
    rmSync(this.#profiles(), { recursive: true });
    return describeProfiles(copy, this.#startMs);
  }

  #profiles() {
    return join(this.directory, 'profiles');
  }

  /**
   * Loads one subject until it has given `count` answers.
   * @param {{ url: string }} subject
   * @param {string} script Lua
   * @param {{ connections: number, count: number }} options
   */
  firstAnswers(subject, script, options) {
    const { url } = subject;
    return this.#withCpu(subject, () => wrkUntil({ url, directory: this.directory, script, ...options }));
  }

  /**
   * Loads one subject, and measures the processor time that an answer cost the subject and PostgreSQL. That figure
   * suffers least when other programs use the machine too.
   * @param {{ url: string, pid: number }} subject
   * @param {string} script Lua
   * @param {{ connections: number, seconds?: number }} options
   */
  load(subject, script, { connections, seconds = this.turnSeconds }) {
    const { url } = subject;
    return this.#withCpu(subject, () =>
      wrk({ url, directory: this.directory, script, connections, seconds }),
    );
  }

  async #withCpu(subject, run) {
    const before = [cpuMsOf(subject.pid), cpuMsOfChildren(this.postgres.pid)];
    const load = allGood(await run());
    const after = [cpuMsOf(subject.pid), cpuMsOfChildren(this.postgres.pid)];
    const [processUs, postgresUs] = after.map((ms, i) => ((ms - before[i]) * 1_000) / load.answers);
    return { ...load, processUs, postgresUs };
  }

  /** @param {() => Promise<void>} end */
  atEndOfScene(end) {
    this.#ofScene.push(end);
  }

  async stop() {
    await this.endScene();
    await this.redis?.stop();
    await this.quickRedis?.stop();
    await this.postgres.stop();
    await this.model.stop();
  }

  #own(listening) {
    this.atEndOfScene(listening.stop);
    return listening;
  }

  async #database(from) {
    const name = `bench_${++this.#databases}`;
    const url = await this.postgres.create(name, from);
    this.atEndOfScene(() => this.postgres.drop(name));
    return url;
  }

  async #makeTemplate() {
    const url = await this.postgres.create(template);
    const { openDatabase } = await this.built.load('database/open-database.js');
    await openDatabase(url, undefined, {});
    await withClient(url, (client) =>
      client.query(
        `INSERT INTO api_key (id, name, prefix, hash, scopes)
         VALUES (gen_random_uuid(), 'bench', 'bench', $1, ARRAY['submit', 'read', 'cancel', 'work'])`,
        [createHash('sha256').update(apiKey).digest()],
      ),
    );
  }
}

/** Refusals do not count as a measurement. */
function allGood(load) {
  if (load.failures > 0) throw new Error(`${load.failures} of ${load.answers} answers were failures`);
  return load;
}
