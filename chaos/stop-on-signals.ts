/** Cleans up once, whether the run ends or is interrupted. */
export function stopOnSignals(stop: () => Promise<void>): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const stopOnce = (): Promise<void> => (stopping ??= stop());
  const interrupted = (): void => void stopOnce().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  return async () => {
    await stopOnce();
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
  };
}
