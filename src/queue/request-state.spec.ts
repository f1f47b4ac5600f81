import { readFileSync } from 'node:fs';
import { type Outcome, type RequestState, transitions } from './request-state.js';

const diagram = readFileSync('docs/states.md', 'utf8');

/**
 * Returns the arrows of the diagram, such as `IN_QUEUE --> COMPLETED : cancel (cancelled)`. `[*]`: there is no
 * request yet.
 */
function drawn(): string[] {
  const arrows = diagram.matchAll(/^\s*(\[\*\]|\w+) --> (\w+) : (\w+)(?: \(([\w, ]+)\))?$/gm);
  return [...arrows].map(([, from, to, verb, outcomes]) => `${from} ${verb} ${to} ${outcomes ?? ''}`.trim());
}

it('docs/states.md draws every transition and no other', () => {
  const listed = transitions.map(({ from, verb, to, outcomes }) =>
    `${from ?? '[*]'} ${verb} ${to} ${outcomes.join(', ')}`.trim(),
  );
  expect(drawn().sort()).toEqual(listed.sort());
});

it('nothing leaves COMPLETED', () => {
  expect(transitions.filter(({ from }) => from === 'COMPLETED')).toEqual([]);
  expect(diagram).toMatch(/^\s*COMPLETED --> \[\*\]$/m);
});

it('a transition to COMPLETED has an outcome, and no other transition has one', () => {
  for (const { to, outcomes } of transitions) expect(outcomes.length > 0).toBe(to === 'COMPLETED');
});

it('every state can be reached, and every outcome', () => {
  const states = new Set<RequestState>(['IN_QUEUE', ...transitions.map(({ to }) => to)]);
  const outcomes = new Set<Outcome>(transitions.flatMap((transition) => transition.outcomes));
  expect([...states].sort()).toEqual(['COMPLETED', 'IN_PROGRESS', 'IN_QUEUE']);
  expect([...outcomes].sort()).toEqual(['cancelled', 'expired', 'failed', 'succeeded']);
});
