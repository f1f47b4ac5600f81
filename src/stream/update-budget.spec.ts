import { UpdateBudget } from './update-budget.js';

const steps = (count: number, budget: UpdateBudget, msEach: number): void => {
  for (let step = 0; step < count; step++) budget.took(budget.max * msEach, budget.max);
};

it('allows 100 before it knows what one costs', () => {
  expect(new UpdateBudget(20).max).toBe(100);
});

it('allows 100 at most, however little one costs', () => {
  const budget = new UpdateBudget(20);
  steps(100, budget, 0.001);
  expect(budget.max).toBe(100);
});

it('comes to as many as take a sixth of a core', () => {
  const budget = new UpdateBudget(20);
  steps(100, budget, 0.1);
  expect(budget.max).toBe(33);
  steps(100, budget, 0.05);
  expect(budget.max).toBe(66);
});

it('always allows some', () => {
  const budget = new UpdateBudget(20);
  steps(100, budget, 50);
  expect(budget.max).toBe(10);
});

it.each([1, 100])('hardly minds one step that was held up, whether it sent %i', (updates) => {
  const budget = new UpdateBudget(20);
  steps(100, budget, 0.02);
  budget.took(20, updates);
  expect(budget.max).toBe(100);
});

it('learns nothing from a step that sent nothing', () => {
  const budget = new UpdateBudget(20);
  steps(100, budget, 0.001);
  budget.took(20, 0);
  expect(budget.max).toBe(100);
});
