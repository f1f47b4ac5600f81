import { Counter, Gauge, type Registry } from 'prom-client';

type Values = readonly (readonly [labels: readonly string[], value: number])[];

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
      const known = values();
      gauge.reset();
      // Without labels a reset leaves a 0, which would be a figure; what is not known is missing.
      if (known.length === 0 && labelNames.length === 0) gauge.remove();
      for (const [labels, value] of known) gauge.set(toLabels(labelNames, labels), value);
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
