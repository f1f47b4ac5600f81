/** Fakes the timers of each test of a file. */
export function useFakeTimers(): void {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());
}

/** Resolves while pauses take no time. */
export async function passing<T>(call: Promise<T>): Promise<T> {
  let isDone = false;
  const done = call.finally(() => (isDone = true));
  done.catch(() => undefined);
  while (!isDone) await jest.advanceTimersByTimeAsync(200);
  return done;
}
