type CleanUp = () => unknown;

const cleanUps: CleanUp[] = [];

/**
 * Done when the tests of a file have ended, before what the file itself does then. Not `afterAll`: a module that files
 * share is read once in a process.
 */
export function afterEachFile(cleanUp: CleanUp): void {
  cleanUps.push(cleanUp);
}

export async function cleanUpAfterFile(): Promise<void> {
  for (const cleanUp of cleanUps) await cleanUp();
}
