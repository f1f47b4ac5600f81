import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkCalm } from '../chaos/checks/check-calm.js';
import { checkIdempotency } from '../chaos/checks/check-idempotency.js';
import { checkRequests } from '../chaos/checks/check-requests.js';
import { checkWebhooks } from '../chaos/checks/check-webhooks.js';
import { readStoredState, type StoredState } from '../chaos/checks/stored-state.js';
import { now, sleep, within } from '../chaos/clock.js';
import { modelsFile } from '../chaos/cluster/models-file.js';
import type { Service } from '../chaos/cluster/cluster.js';
import { nodeSettings, ServiceNode } from '../chaos/cluster/service-node.js';
import type { FaultRecord } from '../chaos/faults/fault.js';
import { ApiClient } from '../chaos/load/api-client.js';
import { Callers } from '../chaos/load/callers.js';
import { HeldQueue } from '../chaos/load/held-queue.js';
import { Ledger } from '../chaos/load/ledger.js';
import { Pace } from '../chaos/load/pace.js';
import { Submitter } from '../chaos/load/submitter.js';
import { ModelServer } from '../chaos/model/model-server.js';
import { WebhookReceiver } from '../chaos/model/webhook-receiver.js';
import { Random } from '../chaos/random.js';
import { root, sourcesHere } from '../chaos/results.js';
import { stopOnSignals } from '../chaos/stop-on-signals.js';
import { WorkLog } from '../chaos/workers/work-log.js';
import { DrillCallers } from './callers.js';
import { type DrillFault, drillFaults } from './faults.js';
import type { Options } from './options.js';
import { PrimaryWatch } from './primary-watch.js';
import { Prober } from './prober.js';
import type { DrillResult, FaultResult } from './results.js';
import { type Programs, versionOf } from './topology/programs.js';
import { Topology } from './topology/topology.js';

const services = 3;
/** Calls are answered this soon after the new primary takes writes. */
const answeredTargetMs = 10_000;
const answeredPatienceMs = 30_000;
/** How long after the last node has come back a call may still be refused. */
const graceMs = 10_000;
const drainMs = 120_000;
/** After a failover a caller may be refused for a minute. */
const finishMs = 150_000;
/** Violations of each rule that a result has. */
const keptOfRule = 5;

/** Starts, breaks, repairs, drains and audits. */
export async function runDrill(
  options: Options,
  programs: Programs,
  print: (text: string) => void,
): Promise<DrillResult> {
  const drill = new Drill(options, programs, print);
  const stopped = stopOnSignals(() => drill.stop());
  try {
    await drill.start();
    for (let round = 1; round <= options.rounds; round++) {
      for (const fault of drill.faults) await drill.make(fault, round);
    }
    return await drill.audit();
  } finally {
    await stopped();
  }
}

class Drill {
  readonly faults: readonly DrillFault[];
  private readonly date = new Date().toISOString();
  private readonly sources = sourcesHere();
  private readonly from = now();
  private readonly random: Random;
  private readonly ledger = new Ledger();
  private readonly model = new ModelServer();
  private readonly receiver: WebhookReceiver;
  private readonly topology: Topology;
  private readonly nodes: ServiceNode[] = [];
  private readonly service: Service;
  private readonly client = new ApiClient(this.ledger);
  private readonly submitter: Submitter;
  private readonly held: HeldQueue;
  private readonly callers: DrillCallers;
  private readonly prober: Prober;
  private readonly watch: PrimaryWatch;
  private readonly pace: Pace;
  private readonly records: FaultRecord[] = [];
  private readonly results: FaultResult[] = [];
  private worstCallMs = 0;

  constructor(
    private readonly options: Options,
    private readonly programs: Programs,
    private readonly print: (text: string) => void,
  ) {
    const { seed, only, pgbouncer } = options;
    this.faults = drillFaults.filter(({ name }) => only.length === 0 || only.includes(name));
    if (this.faults.length === 0 || this.faults.length < only.length)
      throw new Error(`--only takes ${drillFaults.map(({ name }) => `'${name}'`).join(', ')}`);
    this.random = new Random(String(seed));
    this.receiver = new WebhookReceiver(this.random.fork('receiver'));
    const replication = options.async ? 'asynchronous' : options.strict ? 'strict' : 'synchronous';
    this.topology = new Topology(programs, replication, pgbouncer);
    const { topology, ledger, client, random } = this;
    this.service = { apiNodes: this.nodes, callers: new Callers(), postgres: topology };
    this.submitter = new Submitter(this.service, client, ledger, this.receiver, random.fork('submit'));
    this.held = new HeldQueue(
      this.service,
      client,
      this.submitter,
      ledger,
      random.fork('held'),
      'chaos/held',
    );
    this.callers = new DrillCallers(this.service, client, this.submitter, ledger, random.fork('callers'));
    this.prober = new Prober(this.service, this.submitter);
    this.watch = new PrimaryWatch(topology.nodes);
    this.pace = new Pace(topology);
  }

  async start(): Promise<void> {
    const { topology, model, service, nodes, ledger } = this;
    await model.start();
    await this.receiver.start();
    await topology.start();
    this.print(`PostgreSQL is there after ${seconds(now() - this.from)}`);
    const models = join(topology.directory, 'models.yaml');
    writeFileSync(models, modelsFile(model.url));
    for (let i = 1; i <= services; i++) {
      const node = new ServiceNode({
        name: `node-${i}`,
        role: 'all',
        root,
        directory: topology.directory,
        environment: {
          ...topology.environment,
          ...service.callers.environment,
          DATA_DIR: join(topology.directory, 'data'),
          MODELS_FILE: models,
          ...nodeSettings,
        },
      });
      node.onUnexpectedExit = (output) =>
        ledger.violate('no process ends by itself', `${node.name}: ${output}`);
      nodes.push(node);
    }
    await Promise.all(nodes.map((node) => node.start()));
    await service.callers.store(topology);
    this.print(`the services are there after ${seconds(now() - this.from)}`);
    this.watch.start();
    void this.pace.watch();
    this.callers.start();
    this.prober.start();
  }

  /** Makes one fault, and measures until its traces are gone. */
  async make(fault: DrillFault, round: number): Promise<void> {
    const { topology, watch, client, ledger, prober, held } = this;
    await held.fill();
    const primary = await topology.nodeOf('leader');
    const record = this.begin(fault.name);
    const { from } = record;
    client.worstMs = 0;
    const random = this.random.fork(`${fault.name} ${round}`);
    const effect = await fault.make({ topology, watch, random, primary, from });
    record.healedAt = now();
    const names = this.nodes.map(({ name }) => name);
    const answers = (): (number | undefined)[] =>
      names.map((name) => prober.answeredAfterMs(name, effect.servesAt));
    await within(answeredPatienceMs, () => answers().every((ms) => ms !== undefined));
    const answeredAfterMs = Object.fromEntries(
      answers().map((ms, i) => [names[i]!, ms ?? now() - effect.servesAt]),
    );
    const answered = Math.max(...Object.values(answeredAfterMs));
    if (answered > answeredTargetMs)
      ledger.violate(
        'calls are answered within 10 s of the new primary',
        `${fault.name}: ${seconds(answered)}`,
      );
    const old = effect.primary === primary ? undefined : primary.name;
    const late = watch.writes.filter(
      ({ node, at }) => node === old && at > effect.servesAt && at < record.healedAt,
    );
    if (late.length > 0) ledger.violate('a demoted primary takes no writes', `${old} took ${late.length}`);
    await held.audit();
    this.model.release();
    this.worstCallMs = Math.max(this.worstCallMs, client.worstMs);
    const result: FaultResult = {
      kind: fault.name,
      primaryBefore: primary.name,
      primaryAfter: effect.primary.name,
      databaseServesAfterMs: effect.servesAt - from,
      answeredAfterMs,
      outageMs: prober.longestOutageMs(from, now()),
      worstCallMs: client.worstMs,
      wholeAfterMs: record.healedAt - from,
      writesOfOldPrimary: late.length,
      positionsExactAfterMs: held.exactAfterMs.at(-1)!,
    };
    this.results.push(result);
    this.print(
      `${round}: ${fault.name}, ${primary.name} to ${effect.primary.name}: serves after ` +
        `${seconds(result.databaseServesAfterMs)}, answered ${seconds(answered)} later, ` +
        `worst call ${seconds(result.worstCallMs)}, whole after ${seconds(result.wholeAfterMs)}, ` +
        `${ledger.violations.length} violations`,
    );
  }

  /** Compares what callers sent and were answered, what the models recorded, and what is stored. */
  async audit(): Promise<DrillResult> {
    const { ledger, topology, model } = this;
    const { rounds, seed, async, strict, pgbouncer, only } = this.options;
    await this.prober.stop();
    await this.callers.finish(finishMs);
    await this.drain();
    this.watch.stop();
    this.pace.stop();
    const stored = await readStoredState({ postgres: topology });
    checkRequests(stored, ledger, model.runs, new WorkLog(topology.directory));
    checkIdempotency(stored, ledger);
    await checkWebhooks({ postgres: topology }, stored, this.receiver.calls, ledger);
    const lateInSlowMoments = checkCalm(ledger, this.records, this.nodes, this.pace);
    ledger.count('late, or 503 without a fault, in a slow moment', lateInSlowMoments);
    ledger.count('slow moments', this.pace.slow.length);
    const lost = [...ledger.accepted.keys()].filter((id) => !stored.requests.has(id)).length;
    const result: DrillResult = {
      date: this.date,
      ...this.sources,
      options: { rounds, seed, async, strict, pgbouncer, only },
      versions: this.versions(),
      seconds: (now() - this.from) / 1_000,
      failovers: this.results.filter(({ primaryBefore, primaryAfter }) => primaryBefore !== primaryAfter)
        .length,
      accepted: ledger.accepted.size,
      lost,
      requests: stored.requests.size,
      runs: model.runs.runs.length,
      outcomes: outcomesOf(stored),
      worstAnsweredAfterMs: Math.max(
        ...this.results.flatMap(({ answeredAfterMs }) => Object.values(answeredAfterMs)),
      ),
      worstCallMs: this.worstCallMs,
      faults: this.results,
      counts: Object.fromEntries([...ledger.counts].sort(([a], [b]) => a.localeCompare(b))),
      ...keptViolations(ledger),
    };
    this.print(
      `${result.failovers} failovers, ${result.accepted} accepted, ${lost} lost, ` +
        `${ledger.violations.length} violations, ${seconds(result.seconds * 1_000)}`,
    );
    for (const { rule, detail } of result.violations) this.print(`- ${rule}: ${detail}`);
    return result;
  }

  async stop(): Promise<void> {
    this.watch.stop();
    this.pace.stop();
    await Promise.all(this.nodes.map((node) => node.kill()));
    await this.topology.stop(this.options.keep);
    await this.model.stop();
    await this.receiver.stop();
    if (this.options.keep) this.print(`the logs are in ${this.topology.directory}`);
  }

  private begin(kind: string): FaultRecord {
    const record: FaultRecord = {
      kind,
      hits: 'database',
      nodes: [],
      from: now(),
      healedAt: Infinity,
      graceMs,
      endsStreams: false,
      affected: [],
      total: false,
      servedAt: [],
    };
    this.records.push(record);
    return record;
  }

  /** Waits until nothing waits or runs, and every webhook is delivered. The checks find what is left after that. */
  private async drain(): Promise<void> {
    await within(drainMs, async () => {
      this.model.release();
      const [left] = await this.topology.query<{ rows: number }>(
        `SELECT ((SELECT count(*) FROM queue_entry) + (SELECT count(*) FROM delayed_entry)
                 + (SELECT count(*) FROM lease)
                 + (SELECT count(*) FROM webhook_delivery WHERE state = 'pending'))::integer AS rows`,
      );
      if (left!.rows > 0) await sleep(400);
      return left!.rows === 0;
    });
  }

  private versions(): Record<string, string> {
    const { patroni, etcd, haproxy, postgresBin } = this.programs;
    return {
      node: process.version,
      postgres: versionOf(join(postgresBin, 'postgres')),
      patroni: versionOf(patroni),
      etcd: versionOf(etcd),
      haproxy: versionOf(haproxy, '-v'),
    };
  }
}

function outcomesOf({ requests }: StoredState): Record<string, number> {
  const outcomes: Record<string, number> = {};
  for (const { outcome, code } of requests.values()) {
    const name = [outcome ?? 'none', ...(code === null ? [] : [code])].join(' ');
    outcomes[name] = (outcomes[name] ?? 0) + 1;
  }
  return outcomes;
}

function keptViolations({ violations }: Ledger): Pick<DrillResult, 'violations' | 'violationsOfRule'> {
  const violationsOfRule: Record<string, number> = {};
  const kept = violations.filter(({ rule }) => {
    violationsOfRule[rule] = (violationsOfRule[rule] ?? 0) + 1;
    return violationsOfRule[rule] <= keptOfRule;
  });
  return { violations: kept, violationsOfRule };
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
