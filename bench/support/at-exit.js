/** @type {Set<import('node:child_process').ChildProcess>} */
const children = new Set();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/**
 * Kills the child when the bench ends, however it ends, unless the child was stopped before.
 * @param {import('node:child_process').ChildProcess} child
 */
export function killAtExit(child) {
  children.add(child);
  child.once('close', () => children.delete(child));
}
