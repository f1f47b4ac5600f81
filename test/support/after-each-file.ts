type CleanUp = () => unknown;

const cleanUps: CleanUp[] = [];

/**
 * Runs `cleanUp` after the tests of a file and before the file's own clean-up. `afterAll` does not work here, because a
 * module shared by several files is loaded once per process.
 */
export function afterEachFile(cleanUp: CleanUp): void {
  cleanUps.push(cleanUp);
}

export async function cleanUpAfterFile(): Promise<void> {
  for (const cleanUp of cleanUps) await cleanUp();
}
