import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faster, readRules } from './alert-rules.js';
import { until } from './until.js';

interface Sample {
  metric: Record<string, string>;
  value: [at: number, value: string];
}

interface Alert {
  labels: Record<string, string>;
  state: 'pending' | 'firing';
}

interface PrometheusOptions {
  /** A key with the scope observe. */
  key?: string;
  /** Divides all times of the rules. Default: alerts fire after one second, and windows stay as they are. */
  factor?: number;
  /** The scrape interval, and the timeout of a scrape. */
  intervalSeconds?: number;
}

/** A real Prometheus with the rules of deploy/alerts.yaml, which fire after seconds instead of minutes. */
export class Prometheus {
  private constructor(
    private readonly process: ChildProcess,
    private readonly directory: string,
    private readonly url: string,
  ) {}

  /** `targets`: hosts and ports. */
  static async start(
    targets: readonly string[],
    { key, factor, intervalSeconds = 1 }: PrometheusOptions = {},
  ): Promise<Prometheus> {
    const directory = await mkdtemp(join(tmpdir(), 'nowserving-prometheus-'));
    const rules = await readRules();
    const hasty = factor === undefined ? rules.replaceAll(/^( +for:) .*$/gm, '$1 1s') : faster(rules, factor);
    const interval = `${intervalSeconds}s`;
    const authorization = key !== undefined && { authorization: { credentials: key } };
    await writeFile(join(directory, 'alerts.yaml'), hasty);
    await writeFile(
      join(directory, 'prometheus.yml'),
      JSON.stringify({
        global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: '1s' },
        rule_files: ['alerts.yaml'],
        scrape_configs: [{ job_name: 'nowserving', ...authorization, static_configs: [{ targets }] }],
      }),
    );
    const port = await freePort();
    const child = spawn(
      'prometheus',
      [
        `--config.file=${join(directory, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
      ],
      { stdio: 'ignore' },
    );
    let failure: Error | undefined;
    child.once('error', (error) => (failure = error));
    const prometheus = new Prometheus(child, directory, `http://127.0.0.1:${port}`);
    await until(async () => failure !== undefined || (await fetch(`${prometheus.url}/-/ready`)).ok, {
      message: 'Prometheus is ready',
    });
    if (failure !== undefined)
      throw new Error('The rehearsal needs Prometheus. On Debian and Ubuntu: apt-get install prometheus', {
        cause: failure,
      });
    return prometheus;
  }

  async alerts(): Promise<Alert[]> {
    const answer = await fetch(`${this.url}/api/v1/alerts`);
    return ((await answer.json()) as { data: { alerts: Alert[] } }).data.alerts;
  }

  /** Resolves when all targets were scraped. Later increases are then visible as such. */
  async scraped(targets: number): Promise<void> {
    await until(async () => Number((await this.query('sum(up)'))[0]?.value[1]) === targets, {
      message: 'Prometheus has scraped all',
    });
  }

  /** Returns the names of all alerts that have fired since a time, in seconds since 1970. */
  async firedSince(since: number): Promise<string[]> {
    const window = Math.max(1, Math.round(Date.now() / 1_000 - since));
    const query = `count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[${window}s]))`;
    return (await this.query(query)).map(({ metric }) => metric['alertname']!).toSorted();
  }

  /** Resolves when the rules were evaluated for this long, so that every alert had time to fire. */
  async watched(since: number, seconds: number): Promise<void> {
    await until(async () => Number((await this.query('vector(time())'))[0]!.value[1]) >= since + seconds, {
      message: `Prometheus has watched for ${seconds} s`,
      timeoutMs: seconds * 1_000 + 30_000,
    });
  }

  private async query(query: string): Promise<Sample[]> {
    const answer = await fetch(`${this.url}/api/v1/query?${new URLSearchParams({ query }).toString()}`);
    return ((await answer.json()) as { data: { result: Sample[] } }).data.result;
  }

  /** Resolves when the alert fires. */
  fired(alertname: string, labels: Record<string, string> = {}): Promise<Alert> {
    const wanted = Object.entries({ alertname, ...labels });
    return until(
      async () =>
        (await this.alerts()).find(
          ({ state, labels: own }) =>
            state === 'firing' && wanted.every(([name, value]) => own[name] === value),
        ),
      { message: `${alertname} fires`, explain: () => this.alerts() },
    );
  }

  /** Resolves when the alert no longer fires. */
  async calmed(alertname: string): Promise<void> {
    await until(async () => !(await this.alerts()).some(({ labels }) => labels['alertname'] === alertname), {
      message: `${alertname} is over`,
      explain: () => this.alerts(),
    });
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGTERM');
    await ended;
    await rm(this.directory, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
