/** @type {Set<import('node:child_process').ChildProcess>} */
const children = new Set();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/**
 * However the bench ends, what it started ends with it; only what was not stopped in good order before.
 * @param {import('node:child_process').ChildProcess} child
 */
export function killAtExit(child) {
  children.add(child);
  child.once('close', () => children.delete(child));
}
