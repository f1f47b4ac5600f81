import { join } from 'node:path';
import { Program } from './programs.js';
import { root } from './release.js';

/** What each call of a round must end with. */
const roundEnds = {
  run: /^\{"n":1\}$/,
  stream: /^"COMPLETED"$/,
  result: /^\{"n":2\}$/,
  status: /^"COMPLETED"$/,
  cancel: /^"cancelled\b/,
};
/** A service that lacks what a client asks for refuses the call. */
const refused = /^"\w+ (400|404)"$/;

/** Calls the service by both client libraries of a release. Returns how each call ended. */
export async function roundsBy(release, python, url, key) {
  const programs = {
    typescript: new Program(
      'round.mjs',
      process.execPath,
      [join(root, 'upgrade/clients/round.mjs'), release.client, url, key],
      {},
    ),
    python: new Program('round.py', python, [join(root, 'upgrade/clients/round.py'), url, key], {
      PYTHONPATH: release.python,
      PYTHONDONTWRITEBYTECODE: '1',
    }),
  };
  const ends = {};
  for (const [language, program] of Object.entries(programs)) {
    const how = await program.exited;
    ends[language] =
      how === 0 ? JSON.parse(program.output) : `ended with ${how}: ${program.output.slice(-1_000)}`;
  }
  return ends;
}

/** Returns what is wrong with the ends of a round. */
export function faultsOf(ends, release, service, language) {
  const isRight =
    Object.entries(roundEnds).every(([name, pattern]) => pattern.test(JSON.stringify(ends[name]))) &&
    (ends.batch === undefined || refused.test(JSON.stringify(ends.batch)));
  if (isRight) return [];
  return [
    `the ${language} client of the ${release.name} release at the ${service.name} service: ${JSON.stringify(ends)}`,
  ];
}
