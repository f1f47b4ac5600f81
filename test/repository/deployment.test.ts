import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { allSteps, dockerIgnore, imageSettings, parseDockerfile, stageOf } from '../../scripts/dockerfile.js';
import { loadConfig } from '../../src/config/config.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

interface ComposeService {
  image?: string;
  build?: string;
  command?: string[];
  read_only?: boolean;
  environment: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  ports?: string[];
  volumes?: string[];
  stop_grace_period: string;
}
interface Compose {
  name: string;
  services: Record<'postgres' | 'migration' | 'service', ComposeService>;
  volumes: Record<string, null>;
}

describe('the Dockerfile', () => {
  const stages = parseDockerfile(read('Dockerfile'));
  const image = imageSettings(stages.at(-1)!);

  it('builds two images on the recommended Node, by default the one without a database', () => {
    expect(stages.at(-1)!.name).toBe('service');
    const pulled = stages.filter(({ base }) => base === undefined).map((stage) => stage.image);
    const node = `node:${read('.nvmrc').trim()}-bookworm-slim`;
    expect(pulled).toEqual([node, node]);
    expect(imageSettings(stageOf(stages, 'all-in-one')!)).toEqual(image);
  });

  it('runs as an ordinary user in exec form, and stops with the signal that drains the service', () => {
    expect(image.user).toBe('node');
    expect(image.command).toEqual(['node', 'dist/src/main.js']);
    expect(image.stopSignal).toBe('SIGTERM');
  });

  it('listens on all interfaces, on the port that it exposes', () => {
    const config = loadConfig(image.environment);
    expect(config.host).toBe('0.0.0.0');
    expect(String(config.port)).toBe(image.port);
  });

  it('asks the readiness endpoint for its health', () => {
    expect(image.healthcheck.join(' ')).toContain('/health/ready');
  });

  it.each([
    ['service', 'npm prune --omit=dev --omit=optional'],
    ['all-in-one', 'npm prune --omit=dev'],
  ])('prunes the packages that %s does not need', (name, prune) => {
    const [, from] = /^--from=(\S+) \/app\/node_modules /.exec(
      allSteps(stageOf(stages, name)!).at(-1)!.rest,
    )!;
    const commands = allSteps(stageOf(stages, from!)!).filter(({ instruction }) => instruction === 'RUN');
    expect(commands.map(({ rest }) => rest)).toEqual(['npm ci', 'npm run build', prune]);
  });
});

describe('docker-bake.hcl', () => {
  const text = read('docker-bake.hcl');

  it('builds each image of the Dockerfile for both platforms', () => {
    const targets = [...text.matchAll(/^ {2}target += "([\w-]+)"/gm)].map(([, name]) => name!);
    expect(targets).toEqual(['service', 'all-in-one']);
    const stages = parseDockerfile(read('Dockerfile'));
    expect(targets.filter((name) => stageOf(stages, name) === undefined)).toEqual([]);
    expect(text).toContain('platforms = ["linux/amd64", "linux/arm64"]');
  });
});

describe('the .dockerignore', () => {
  const ignored = dockerIgnore(read('.dockerignore'));

  it('excludes files that the image does not need, and includes files that it needs', () => {
    const out = [
      '.git/config',
      '.data/postgres',
      '.env',
      'node_modules/pg',
      'dist/src/main.js',
      'test/a.test.ts',
    ];
    const inside = [
      '.npmrc',
      'package-lock.json',
      'src/main.ts',
      'migrations/0001-requests.ts',
      'models.yaml',
      'assets/docs/page.js',
      'LICENSE',
    ];
    expect([...out, ...inside].filter(ignored)).toEqual(out);
  });
});

describe('the compose file', () => {
  const { services, volumes } = parse(read('docker-compose.yml')) as Compose;
  const { postgres, migration, service } = services;
  const names = ['POSTGRES_PASSWORD', 'OWNER_PASSWORD', 'SERVICE_PASSWORD', 'BOOTSTRAP_API_KEY'];
  const secrets = Object.fromEntries(names.map((name) => [name, name.toLowerCase().repeat(2)]));

  it('migrates a healthy database, grants the rights, and then starts the service', () => {
    expect(migration.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(service.depends_on).toEqual({ migration: { condition: 'service_completed_successfully' } });
    expect(postgres.healthcheck!.test.join(' ')).toContain('pg_isready');
    expect([migration.build, service.build]).toEqual(['.', '.']);
    expect(migration.command).toEqual(['node', 'dist/src/migrate.js', '--grants', '/grants.sql']);
    expect(migration.volumes).toEqual(['./deploy/postgres/grants.sql:/grants.sql:ro']);
    expect(loadConfig(interpolate(service.environment, secrets)).migrate).toBe(false);
  });

  it('stores the data in a named volume at the path of PostgreSQL 18, and creates the roles first', () => {
    expect(postgres.image).toMatch(/^postgres:18\b/);
    expect(postgres.volumes).toEqual([
      'postgres:/var/lib/postgresql',
      './deploy/postgres/roles.sql:/docker-entrypoint-initdb.d/1-roles.sql:ro',
      './deploy/postgres/passwords.sql:/docker-entrypoint-initdb.d/2-passwords.sql:ro',
    ]);
    expect(Object.keys(volumes)).toEqual(['postgres', 'files']);
  });

  it('contains no password and no key, and the error for a missing one states what to do', () => {
    expect(read('docker-compose.yml')).not.toMatch(/:-/);
    for (const name of names) {
      const { [name]: _, ...others } = secrets;
      const start = (): unknown => Object.values(services).map((one) => interpolate(one.environment, others));
      expect(start).toThrow(`${name}: write a file .env as docs/deploying.md shows`);
    }
    const [, list] = /for name in ([A-Z_ ]+); do/.exec(read('docs/deploying.md'))!;
    expect(list!.split(' ')).toEqual(names);
  });

  it('contains valid settings, and each container uses the database role that it needs', () => {
    const config = loadConfig(interpolate(service.environment, secrets));
    const urls = [config.databaseUrl!, interpolate(migration.environment, secrets)['DATABASE_URL']!];
    const logins = urls.map((text) => {
      const { username, password, hostname, pathname } = new URL(text);
      return [username, password, hostname, pathname];
    });
    const owner = ['nowserving_owner', secrets['OWNER_PASSWORD'], 'postgres', '/nowserving'];
    const login = ['nowserving', secrets['SERVICE_PASSWORD'], 'postgres', '/nowserving'];
    expect(logins).toEqual([login, owner]);
    const passwords = read('deploy/postgres/passwords.sql');
    for (const [, name] of passwords.matchAll(/^\\getenv \w+ (\w+)$/gm))
      expect(Object.keys(postgres.environment)).toContain(name);
    expect(Number.parseInt(service.stop_grace_period, 10) * 1_000).toBeGreaterThan(
      config.shutdownDelayMs + config.shutdownGraceMs,
    );
  });

  it('is stopped as slowly as one container', () => {
    const config = loadConfig({});
    const [, seconds] = /docker run .*--stop-timeout (\d+) /.exec(read('docs/deploying.md'))!;
    expect(Number(seconds) * 1_000).toBeGreaterThan(config.shutdownDelayMs + config.shutdownGraceMs);
  });

  it('mounts the folder of models.yaml, because a mounted file does not change when it is replaced', () => {
    const folder = service.environment['MODELS_FILE']!.replace(/\/models\.yaml$/, '');
    expect(service.volumes).toContain(`./config:${folder}:ro`);
    expect(service.read_only).toBe(true);
  });

  it('publishes the port that the image exposes, to this machine only', () => {
    const { port } = imageSettings(parseDockerfile(read('Dockerfile')).at(-1)!);
    expect(service.ports).toEqual([`127.0.0.1:3000:${port}`]);
    expect(postgres.ports).toBeUndefined();
  });

  it('passes docker compose config, if Docker is installed', () => {
    const docker = (...args: string[]) =>
      spawnSync('docker', ['compose', ...args], {
        cwd: root,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...secrets },
      });
    const canTell = docker('version').status === 0;
    const { status, stderr } = canTell ? docker('config', '--quiet') : { status: 0, stderr: '' };
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('the units of systemd', () => {
  const units = readdirSync(join(root, 'deploy/systemd'));
  const unit = read('deploy/systemd/nowserving@.service');

  it('contain valid settings and give the service time to stop', () => {
    const environment = Object.fromEntries(
      [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line]) =>
        line!.split(' ').map((entry) => entry.split('=') as [string, string]),
      ),
    );
    const { DATABASE_URL_FILE: file, ...settings } = environment;
    expect(file).toBe('%d/database-url');
    const config = loadConfig({
      ...settings,
      ROLE: 'api',
      DATABASE_URL: 'postgresql://nowserving@host/queue',
    });
    expect(config.dataDir).toBe('/var/lib/nowserving');
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit)!;
    expect(Number(seconds) * 1_000).toBeGreaterThan(config.shutdownDelayMs + config.shutdownGraceMs);
  });

  it('start a node without settings of its own', () => {
    const [, ...files] = unit.split(/^EnvironmentFile=/m);
    expect(files.map((text) => text.split('\n', 1)[0])).toEqual([
      '-/etc/nowserving/settings.env',
      '-/etc/nowserving/%i.env',
    ]);
  });

  it('pass systemd-analyze verify and security, if systemd is installed', () => {
    const analyze = (...args: string[]) =>
      spawnSync('systemd-analyze', args, { encoding: 'utf8', env: { PATH: process.env['PATH'] } });
    const folder = mkdtempSync(join(tmpdir(), 'nowserving-units-'));
    try {
      const canTell = analyze('--version').status === 0;
      for (const name of canTell ? units : []) {
        const file = join(folder, name.replace('@', '@trial'));
        // The program is not installed here.
        writeFileSync(
          file,
          read(join('deploy/systemd', name)).replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true'),
        );
        const verified = analyze('verify', '--man=no', '--recursive-errors=no', file);
        expect({ file, status: verified.status, stderr: verified.stderr }).toEqual({
          file,
          status: 0,
          stderr: '',
        });
        // Tenths of the exposure, which is 9.6 for a unit without these settings.
        const exposed = analyze('security', '--offline=true', '--threshold=20', file);
        expect({ file, status: exposed.status }).toEqual({ file, status: 0 });
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the chart', () => {
  const folder = 'deploy/helm/nowserving';

  it('contains the alerts and the grants of this repository', () => {
    expect(read(join(folder, 'files/alerts.yaml'))).toBe(read('deploy/alerts.yaml'));
    expect(read(join(folder, 'files/grants.sql'))).toBe(read('deploy/postgres/grants.sql'));
  });

  const { settings, shutdown, api, scheduler, postgres } = parse(read(join(folder, 'values.yaml'))) as {
    settings: Record<string, string>;
    shutdown: Record<string, number>;
    api: { replicas: number; autoscaling: { maxReplicas: number } };
    scheduler: { replicas: number };
    postgres: { parameters: { max_connections: string } };
  };
  const config = loadConfig(settings);

  it('has default settings that the service takes', () => {
    expect(shutdown).toEqual({
      delaySeconds: config.shutdownDelayMs / 1_000,
      graceSeconds: config.shutdownGraceMs / 1_000,
    });
  });

  it('leaves TRUST_PROXY unset, so that a node warns if there is a proxy', () => {
    expect(config.environment).not.toHaveProperty('TRUST_PROXY');
  });

  it('has a PostgreSQL with connections for all nodes and for those that an update starts', () => {
    const nodes = Math.max(api.replicas, api.autoscaling.maxReplicas) + scheduler.replicas + 2;
    // Sizes in docs/nodes.md: also while all of them start.
    const connections = 12 + config.databasePoolSize + 3;
    expect(Number(postgres.parameters.max_connections)).toBeGreaterThan(nodes * connections);
  });
});

describe('the public workflow', () => {
  const workflow = parse(read('.github/workflows/ci.yml')) as {
    jobs: Record<
      string,
      { strategy: { matrix: { node: string[] } }; steps: { run?: string; uses?: string }[] }
    >;
  };

  it('runs one script of the repository and no other command', () => {
    const commands = Object.values(workflow.jobs).flatMap(({ steps }) =>
      steps.flatMap(({ run }) => run ?? []),
    );
    expect(commands).toHaveLength(1);
    expect(commands[0]).toMatch(/^sudo env "PATH=\$PATH" (\S+)$/);
    expect(existsSync(join(root, commands[0]!.split(' ').at(-1)!))).toBe(true);
  });

  it('runs on each Node that docs/versions.md supports', () => {
    const [, supported] = /^\| Node +\| ([\d and]+);/m.exec(read('docs/versions.md'))!;
    for (const { strategy } of Object.values(workflow.jobs)) {
      expect(strategy.matrix.node).toEqual(supported!.split(' and '));
    }
  });

  it('names each action by its commit', () => {
    const actions = Object.values(workflow.jobs).flatMap(({ steps }) =>
      steps.flatMap(({ uses }) => uses ?? []),
    );
    expect(actions.filter((action) => !/^[\w/-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });
});

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}` as Compose does. */
function interpolate(
  values: Record<string, string>,
  environment: Record<string, string>,
): Record<string, string> {
  const replace = (value: string): string =>
    value.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind: string, text: string) => {
      const found = environment[name];
      if (found === undefined && kind === '?') throw new Error(`${name}: ${text}`);
      return found ?? text;
    });
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, replace(value)]));
}
