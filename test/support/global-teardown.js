/** Undoes what the set-up did, the last step first. */
export default async function teardown() {
  for (const step of globalThis.testTeardown.reverse()) await step();
}
