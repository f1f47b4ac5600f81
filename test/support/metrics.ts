import type { TestService } from './test-service.js';

/** The values of one scrape, by the text of the series. */
export class Scrape {
  constructor(readonly text: string) {}

  /** Returns the sum of the series that have these labels. undefined: there is none. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const found = this.text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => wanted.every((label) => line.includes(label)));
    if (found.length === 0) return undefined;
    return found.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** All names, without the suffixes of histograms. */
  get names(): string[] {
    return [...this.text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
  }
}

export async function scrape(service: Pick<TestService, 'url' | 'key'>): Promise<Scrape> {
  const response = await fetch(`${service.url}/metrics`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  expect(response.status).toBe(200);
  return new Scrape(await response.text());
}
