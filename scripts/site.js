import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Makes the documentation site in site/dist. Its tools are a package of their own, so that an installation of the service
 * does not have them: npm fetches them into site/node_modules. A link that leads nowhere fails the build.
 */
const site = fileURLToPath(new URL('../site', import.meta.url));
for (const args of [
  ['ci', '--ignore-scripts'],
  ['run', '--silent', 'build'],
]) {
  const { status, error } = spawnSync('npm', args, { cwd: site, stdio: 'inherit' });
  if (error !== undefined) console.error(error.message);
  if (status !== 0) process.exit(1);
}
console.log('The site is in site/dist.');
