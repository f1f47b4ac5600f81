import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const path = fileURLToPath(new URL('../../deploy/alerts.yaml', import.meta.url));

export const readRules = (): Promise<string> => readFile(path, 'utf8');

const seconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** Divides all times of the rules by `factor`: how long a condition must hold, the windows, the bounds in seconds. */
export function faster(rules: string, factor: number): string {
  const shorter = (duration: string): string => {
    const [, count, unit] = /^(\d+)([smhd])$/.exec(duration)!;
    return `${Math.ceil((Number(count) * seconds[unit as keyof typeof seconds] * 1_000) / factor)}ms`;
  };
  return rules
    .replaceAll(/^( +for:) (\w+)$/gm, (_, name: string, duration: string) => `${name} ${shorter(duration)}`)
    .replaceAll(/\[(\d+[smhd])\]/g, (_, duration: string) => `[${shorter(duration)}]`)
    .replaceAll(
      /((?:wait|failing|overdue|transaction)_seconds\)) > (\d+)/g,
      (_, metric: string, bound: string) => `${metric} > ${Number(bound) / factor}`,
    );
}

/** Returns the names of all alerts. */
export const alertsIn = (rules: string): string[] =>
  [...rules.matchAll(/^ +- alert: (\S+)$/gm)].map(([, name]) => name!);

/** Returns the names of the metrics that the rules read. */
export const metricsIn = (rules: string): Set<string> =>
  new Set([...rules.matchAll(/\b(?:nowserving|nodejs)_[a-z0-9_]+/g)].map(([name]) => name));
