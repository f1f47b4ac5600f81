import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alertsIn, metricsIn, readRules } from './alert-rules.js';
import { promtool } from './promtool.js';
import { until } from './until.js';

/** The interval at which the metrics are scraped. */
const stepSeconds = 5;
const watchedMinutes = 20;

/** Metrics of nodes at each step, so that the rules can be evaluated with their real times. */
export class RecordedMetrics {
  /** The value of each series at each step, by the series' text. null: it was missing. */
  private readonly series = new Map<string, (string | null)[]>();
  private steps = 0;
  private startedAt = performance.now();

  private constructor(
    private readonly rules: string,
    private readonly urls: readonly string[],
    private readonly key: string,
  ) {}

  static async of(urls: readonly string[], key: string): Promise<RecordedMetrics> {
    return new RecordedMetrics(await readRules(), urls, key);
  }

  /** Scrapes every 5 s, beginning now, this many times. */
  async record(scrapes: number): Promise<void> {
    if (this.steps === 0) this.startedAt = performance.now();
    for (let i = 0; i < scrapes; i++) {
      const dueAt = this.startedAt + this.steps * stepSeconds * 1_000;
      await until(() => performance.now() >= dueAt, {
        message: 'the next scrape is due',
        timeoutMs: stepSeconds * 2_000,
      });
      await Promise.all(this.urls.map((url) => this.scrape(url)));
      this.steps++;
    }
  }

  /** Expects that promtool reports no alerts if all values stay as they are for 20 minutes. */
  async expectNoAlerts(): Promise<void> {
    const directory = await mkdtemp(join(tmpdir(), 'nowserving-recorded-'));
    const after = (watchedMinutes * 60) / stepSeconds - this.steps;
    const input_series = [...this.series].map(([series, values]) => {
      const all = [...values, ...Array<null>(this.steps - values.length).fill(null)];
      const last = all.at(-1);
      return { series, values: `${all.map((value) => value ?? '_').join(' ')} ${last ?? '_'}x${after}` };
    });
    const alert_rule_test = alertsIn(this.rules).flatMap((alertname) =>
      Array.from({ length: watchedMinutes - 1 }, (_, i) => ({
        eval_time: `${i + 1}m`,
        alertname,
        exp_alerts: [],
      })),
    );
    const test = {
      rule_files: ['alerts.yaml'],
      evaluation_interval: '15s',
      tests: [{ interval: `${stepSeconds}s`, input_series, alert_rule_test }],
    };
    try {
      await writeFile(join(directory, 'alerts.yaml'), this.rules);
      await writeFile(join(directory, 'test.yaml'), JSON.stringify(test));
      expect(promtool(['test', 'rules', join(directory, 'test.yaml')])).toContain('SUCCESS');
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  private async scrape(url: string): Promise<void> {
    const instance = new URL(url).host;
    const text = await fetch(`${url}/metrics`, {
      headers: { authorization: `Bearer ${this.key}` },
      signal: AbortSignal.timeout(10_000),
    }).then(
      (answer) => (answer.ok ? answer.text() : undefined),
      () => undefined,
    );
    this.note(`up{job="nowserving",instance="${instance}"}`, text === undefined ? '0' : '1');
    const read = metricsIn(this.rules);
    for (const line of text?.split('\n') ?? []) {
      const [, name, labels = '', value] = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      if (name === undefined || !read.has(name)) continue;
      const all = [`job="nowserving"`, `instance="${instance}"`, ...(labels === '' ? [] : [labels])];
      this.note(`${name}{${all.join(',')}}`, value!);
    }
  }

  private note(series: string, value: string): void {
    const values = this.series.get(series) ?? [];
    this.series.set(series, values);
    while (values.length < this.steps) values.push(null);
    values[this.steps] = value;
  }
}
