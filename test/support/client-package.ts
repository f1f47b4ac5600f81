import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from './data-directory.js';

const run = promisify(execFile);
const folder = resolve('clients/typescript');

export interface Packed {
  tarball: string;
  files: string[];
}

/** Packs the client as it would be published, from the existing build. */
export async function packClient(): Promise<Packed> {
  const directory = await temporaryDirectory();
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', directory], { cwd: folder });
  const [{ filename, files }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [
    { filename: string; files: { path: string }[] },
  ];
  return { tarball: join(directory, filename), files: files.map(({ path }) => path).sort() };
}

/** A user's project with only this package installed. */
export class UserProject {
  private constructor(
    readonly directory: string,
    private readonly environment: Record<string, string>,
  ) {}

  static async with({ tarball }: Packed, environment: Record<string, string>): Promise<UserProject> {
    const project = new UserProject(await temporaryDirectory(), environment);
    await project.write('package.json', '{}');
    await project.run('npm', 'install', '--offline', '--no-audit', '--no-fund', tarball);
    return project;
  }

  write(file: string, text: string): Promise<void> {
    return writeFile(join(this.directory, file), text);
  }

  /** Returns the standard output, or both outputs in the error if the command fails. */
  async run(command: string, ...args: string[]): Promise<string> {
    const env = { ...process.env, ...this.environment };
    const { stdout } = await run(command, args, { cwd: this.directory, env }).catch(
      (error: { message: string; stdout: string; stderr: string }) =>
        Promise.reject(new Error(`${error.message}\n${error.stdout}\n${error.stderr}`)),
    );
    return stdout;
  }
}
