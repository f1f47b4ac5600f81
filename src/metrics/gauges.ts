import { Counter, Gauge, type Registry } from 'prom-client';

type Values = readonly (readonly [labels: readonly string[], value: number])[];

/** Adds a gauge whose values are read at each scrape. */
export function addGauge(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  values: () => Values,
): void {
  const gauge: Gauge = new Gauge({
    name: `nowserving_${name}`,
    help,
    labelNames,
    registers: [registry],
    collect: () => {
      const known = values();
      gauge.reset();
      // A reset leaves a 0 in a gauge without labels, which would look like a value. An unknown value must be missing.
      if (known.length === 0 && labelNames.length === 0) gauge.remove();
      for (const [labels, value] of known) gauge.set(toLabels(labelNames, labels), value);
    },
  });
}

/** Adds a counter for a number that is counted elsewhere and only rises. */
export function addCounter(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  values: () => Values,
): void {
  const counter: Counter = new Counter({
    name: `nowserving_${name}`,
    help,
    labelNames,
    registers: [registry],
    collect: () => {
      counter.reset();
      for (const [labels, value] of values()) counter.inc(toLabels(labelNames, labels), value);
    },
  });
}

const toLabels = (names: readonly string[], values: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name, i) => [name, values[i]!]));
