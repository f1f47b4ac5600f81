import { ToldPerStep } from './update-budget.js';

const steps = (count: number, perStep: ToldPerStep, msEach: number): void => {
  for (let step = 0; step < count; step++) perStep.took(perStep.most * msEach, perStep.most);
};

it('lets 100 be told before it knows what one costs', () => {
  expect(new ToldPerStep(20).most).toBe(100);
});

it('lets 100 be told at most, however little one costs', () => {
  const perStep = new ToldPerStep(20);
  steps(100, perStep, 0.001);
  expect(perStep.most).toBe(100);
});

it('comes to as many as take a sixth of a core', () => {
  const perStep = new ToldPerStep(20);
  steps(100, perStep, 0.1);
  expect(perStep.most).toBe(33);
  steps(100, perStep, 0.05);
  expect(perStep.most).toBe(66);
});

it('lets some be told always', () => {
  const perStep = new ToldPerStep(20);
  steps(100, perStep, 50);
  expect(perStep.most).toBe(10);
});

it.each([1, 100])('hardly minds one step that was held up, whether it told %i', (told) => {
  const perStep = new ToldPerStep(20);
  steps(100, perStep, 0.02);
  perStep.took(20, told);
  expect(perStep.most).toBe(100);
});

it('learns nothing from a step that told nothing', () => {
  const perStep = new ToldPerStep(20);
  steps(100, perStep, 0.001);
  perStep.took(20, 0);
  expect(perStep.most).toBe(100);
});
