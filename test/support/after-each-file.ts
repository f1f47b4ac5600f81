type CleanUp = () => unknown;

const cleanUps: Record<'first' | 'last', CleanUp[]> = { first: [], last: [] };

/**
 * Runs `cleanUp` after the tests of a file: before all that the file's own clean-up does, or after it. Processes end
 * first, and directories that a server still uses go last. `afterAll` does not work here, because a module shared by
 * several files is loaded once per process.
 */
export function afterEachFile(turn: 'first' | 'last', cleanUp: CleanUp): void {
  cleanUps[turn].push(cleanUp);
}

export async function cleanUpAfterFile(turn: 'first' | 'last'): Promise<void> {
  for (const cleanUp of cleanUps[turn]) await cleanUp();
}
