import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.js';
import { bundledPackages, lockedPackages } from './packages.js';

/**
 * Asks the registry for known vulnerabilities of the dependencies that the service runs with, and of those whose code is
 * in the built console. Exit code 1: there are some. 0: there are none, or no registry answered, which the only line of
 * the output then says.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
buildIfStale();
const shipped = pathsOfShipped();
const options = ['--json', '--fetch-retries=1', '--fetch-timeout=20000'];
const { stdout, stderr } = spawnSync('npm', ['audit', ...options], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 ** 2,
});
const report = parsed();

if (report.auditReportVersion !== undefined) {
  const found = Object.values(report.vulnerabilities)
    .filter(({ nodes }) => nodes.some((path) => shipped.has(path)))
    .map(lineOf);
  if (found.length === 0) console.log(`No known vulnerability in ${shipped.size} dependencies.`);
  else fail([...found, 'Update these dependencies, or take others.'].join('\n'));
} else if (isUnanswered(report)) {
  console.log(`Vulnerabilities were not checked, because no registry answered: ${reasonOf(report)}.`);
} else {
  fail(`npm audit failed: ${report.error?.summary || report.message || stderr}`);
}

/** The console's packages are development dependencies, because an installation has only its built files. */
function pathsOfShipped() {
  const bundled = new Set(bundledPackages().map(({ name, version }) => `${name} ${version}`));
  return new Set(
    lockedPackages()
      .filter(({ name, version, isDevelopment }) => !isDevelopment || bundled.has(`${name} ${version}`))
      .map(({ path }) => path),
  );
}

function parsed() {
  try {
    return JSON.parse(stdout);
  } catch {
    return { message: stdout };
  }
}

/** True if there was no connection, or if the registry knows no audits or is out of order. 400 blames the question. */
function isUnanswered({ message, statusCode, error }) {
  if (typeof message !== 'string' || error?.code !== undefined) return false;
  return statusCode === undefined ? message.startsWith('request to ') : statusCode !== 400;
}

/** Without the address of the registry, which may have a password. */
function reasonOf({ message, statusCode }) {
  if (statusCode !== undefined) return `its status was ${statusCode}`;
  return /\breason: .*?\b(E[A-Z_]+)\b/.exec(message)?.[1] ?? 'the connection failed';
}

function lineOf({ name, severity, via, range, fixAvailable }) {
  const causes = via.map((cause) =>
    typeof cause === 'string' ? `by ${cause}` : `${cause.title} ${cause.url}`,
  );
  const fix = fixAvailable === false ? 'no fix yet' : 'a fixed version exists';
  const which = [name, range].filter(Boolean).join(' ');
  return `${which}: ${severity}: ${causes.join('; ')} (${fix})`;
}

function fail(text) {
  console.error(text);
  process.exitCode = 1;
}
