import { Registry } from 'prom-client';
import { FastCounter, FastHistogram } from './series.js';

it('writes counters as prom-client does', async () => {
  const registry = new Registry();
  const counter = new FastCounter({ name: 'some_total', help: 'Some.', labelNames: ['a', 'b'], registry });
  counter.count('x', 'y');
  counter.count('x', 'y');
  counter.begin('x', 'a "quoted" one');
  expect(await registry.metrics()).toBe(
    '# HELP some_total Some.\n# TYPE some_total counter\n' +
      'some_total{a="x",b="y"} 2\nsome_total{a="x",b="a \\"quoted\\" one"} 0\n',
  );
});

it('writes histograms as prom-client does, with a value at a bound inside the bucket', async () => {
  const registry = new Registry();
  const histogram = new FastHistogram({
    name: 'some_seconds',
    help: 'Some.',
    labelNames: ['a'],
    buckets: [1, 5],
    registry,
  });
  for (const value of [0.5, 1, 3, 9]) histogram.note(value, 'x');
  expect(await registry.metrics()).toBe(
    `# HELP some_seconds Some.
# TYPE some_seconds histogram
some_seconds_bucket{le="1",a="x"} 2
some_seconds_bucket{le="5",a="x"} 3
some_seconds_bucket{le="+Inf",a="x"} 4
some_seconds_sum{a="x"} 13.5
some_seconds_count{a="x"} 4
`,
  );
});

it('begins with 0 where there are no labels', async () => {
  const registry = new Registry();
  expect(new FastCounter({ name: 'some_total', help: 'Some.', registry })).toBeInstanceOf(FastCounter);
  expect(await registry.metrics()).toContain('\nsome_total 0\n');
});
