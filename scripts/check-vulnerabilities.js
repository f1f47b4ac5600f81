import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Asks the registry for known vulnerabilities of the dependencies that the service runs with. Exit code 1: there are
 * some. 0: there are none, or no registry answered, which the only line of the output then says.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const options = ['--omit=dev', '--json', '--fetch-retries=1', '--fetch-timeout=20000'];
const { stdout, stderr } = spawnSync('npm', ['audit', ...options], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 ** 2,
});
const report = parsed();

if (report.auditReportVersion !== undefined) {
  const found = Object.values(report.vulnerabilities).map(lineOf);
  const count = report.metadata.dependencies.prod;
  if (found.length === 0) console.log(`No known vulnerability in ${count} dependencies.`);
  else fail([...found, 'Update these dependencies, or take others.'].join('\n'));
} else if (isUnanswered(report)) {
  console.log(`Vulnerabilities were not checked, because no registry answered: ${reasonOf(report)}.`);
} else {
  fail(`npm audit failed: ${report.error?.summary || report.message || stderr}`);
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
