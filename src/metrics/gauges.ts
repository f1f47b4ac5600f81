import { Counter, Gauge, type Registry } from 'prom-client';

type Values = Iterable<readonly [labels: readonly string[], value: number]>;

/** Its values are asked for at each scrape. */
export function addGauge(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  values: () => Values,
): void {
  const gauge: Gauge = new Gauge({
    ...{ name: `nowserving_${name}`, help, labelNames, registers: [registry] },
    collect: () => {
      gauge.reset();
      for (const [labels, value] of values()) gauge.set(toLabels(labelNames, labels), value);
    },
  });
}

/** The same of what only rises, and is counted elsewhere. */
export function addCounter(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  values: () => Values,
): void {
  const counter: Counter = new Counter({
    ...{ name: `nowserving_${name}`, help, labelNames, registers: [registry] },
    collect: () => {
      counter.reset();
      for (const [labels, value] of values()) counter.inc(toLabels(labelNames, labels), value);
    },
  });
}

const toLabels = (names: readonly string[], values: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name, i) => [name, values[i]!]));
