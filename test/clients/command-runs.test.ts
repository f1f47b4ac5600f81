import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { factsOf } from '../../clients/typescript/src/worker/claimed-run.js';
import type { RunEvent } from '../../clients/typescript/src/worker/event-sender.js';
import { execute, voiceOf } from '../../clients/typescript/src/worker/execute.js';
import {
  Fail,
  failureOf,
  HandBack,
  Retry,
  Stopped,
  type StopReason,
} from '../../clients/typescript/src/worker/failures.js';
import { JsonText } from '../../clients/typescript/src/worker/json-text.js';
import { type Command, commandHandler } from '../../clients/typescript/src/worker/command/command-handler.js';
import type { Run } from '../../clients/typescript/src/worker/types.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { until } from '../support/until.js';

const events: RunEvent[] = [];
const uploads: string[] = [];
const stop = { controller: new AbortController() };
beforeEach(() => {
  events.splice(0);
  uploads.splice(0);
  stop.controller = new AbortController();
});

/** Runs a shell script, and returns its output. */
async function run(script: string, options: Partial<Command> = {}, input: unknown = {}): Promise<unknown> {
  const output = await outputOf(script, options, JSON.stringify(input));
  return output instanceof JsonText ? JSON.parse(output.text) : output;
}

function outputOf(
  script: string,
  options: Partial<Command> = {},
  inputText = '{}',
  room = (): Promise<unknown> => Promise.resolve(),
): Promise<unknown> {
  const command = {
    command: 'sh',
    args: ['-c', script],
    stdout: 'json' as const,
    killAfterMs: 20_000,
    env: [],
  };
  return execute(
    commandHandler({ ...command, ...options }),
    JSON.parse(inputText),
    {
      inputText,
      ...factsOf({ request_id: 'an-id', model_id: 'me/x', attempt: 1 }),
      signal: stop.controller.signal,
      ...voiceOf((event) => events.push(event)),
      download: (async (url: string, { to }: { to: string }) => {
        writeFileSync(to, `content of ${url}`);
        return to;
      }) as Run['download'],
      upload: async (name, path) => {
        uploads.push(readFileSync(path as string, 'utf8'));
        return `https://files/${name}`;
      },
    },
    async () => void (await room()),
  );
}

const text = (): string => events.map((event) => (event.type === 'delta' ? event.delta : '')).join('');
const isAlive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

test('a command reads its whole input from standard input and writes its output to standard output', async () => {
  expect(await run('cat', {}, { prompt: 'hello' })).toEqual({ prompt: 'hello' });
});

test('input and output pass unchanged', async () => {
  const text = '{"n": 12345678901234567890, "f": 1.0, "f": 1e400}';
  expect(await outputOf('cat', {}, text)).toEqual(new JsonText(text));
});

test('a command may ignore a large input', async () => {
  expect(await run('echo 1', {}, 'x'.repeat(1_000_000))).toBe(1);
});

test('a command runs in a new folder, which is deleted afterwards', async () => {
  await run('pwd; ls -A; test "$PWD" = "$NS_OUTPUT_DIR"', { stdout: 'text' });
  expect(text()).toMatch(/^\/\S+\n$/);
  expect(existsSync(text().trim())).toBe(false);
});

test('a command never sees the key of its worker', async () => {
  process.env['NOWSERVING_KEY'] = 'ns_secret';
  try {
    await run('env', { stdout: 'text' });
  } finally {
    delete process.env['NOWSERVING_KEY'];
  }
  expect(text()).toContain('NS_REQUEST_ID=an-id\n');
  expect(text()).not.toContain('ns_secret');
});

test('no shell interprets the arguments of a command', async () => {
  const argument = '$(echo evil); `id` "*"';
  await run('', { command: 'printf', args: ['%s', argument], stdout: 'text' });
  expect(text()).toBe(argument);
});

test('standard error is the log', async () => {
  await run('echo one >&2; printf "10%%\\r20%%\\nend" >&2; echo 1');
  const messages = events.map((event) => event.type === 'log' && [event.source, event.message]);
  expect(messages).toEqual(['one', '10%', '20%', 'end'].map((line) => ['stderr', line]));
});

test('a long log has its first and last lines', async () => {
  await run('for i in $(seq 1 5000); do echo "line $i" >&2; done; echo 1');
  const messages = events.flatMap((event) => (event.type === 'log' ? event.message : []));
  expect(messages.slice(0, 2)).toEqual(['line 1', 'line 2']);
  expect(messages.slice(149, 153)).toEqual([
    'line 150',
    'The log is long. Its last lines follow when the command has ended.',
    '4700 lines of the log are left out here.',
    'line 4851',
  ]);
  expect(messages.at(-1)).toBe('line 5000');
  expect(messages).toHaveLength(302);
});

test('a long log of long lines has fewer of them', async () => {
  await run(`for i in $(seq 1 50); do printf '%s %03000d\\n' "$i" 0 >&2; done; echo 1`);
  const lines = events.flatMap((event) => (event.type === 'log' ? event.message.split(' ', 1) : []));
  expect(lines).toEqual(['1', '2', '3', 'The', '44', '48', '49', '50']);
});

test('a long log keeps its last line, however many bytes its characters have', async () => {
  await run(
    `echo first >&2; printf '%08000d\\n' 0 | sed 's/0/€/g' >&2; printf '%08000d\\n' 0 | sed 's/0/語/g' >&2; echo 1`,
  );
  const messages = events.flatMap((event) => (event.type === 'log' ? event.message : []));
  expect(messages.map((message) => message.slice(0, 5))).toEqual(['first', 'The l', '1 lin', '語語語語語']);
});

test('each kind of failure has the last line of standard error, for operators', async () => {
  const failed = async (script: string): Promise<unknown> =>
    failureOf(await run(script).catch((error: unknown) => error));
  expect(await failed('echo loading >&2; echo "  CUDA error" >&2; exit 3')).toEqual({
    message: 'The command ended with exit code 3.',
    retryable: true,
    model_message: 'CUDA error',
  });
  expect(await failed('echo "no prompt" >&2; exit 65')).toMatchObject({ model_message: 'no prompt' });
  expect(await failed('echo done >&2')).toEqual({
    message: 'The command ended without an output.',
    retryable: false,
    model_message: 'done',
  });
  expect(await failed('exit 3')).not.toHaveProperty('model_message');
});

test('a command may run in a given folder, and its output files still use a folder of the run', async () => {
  const cwd = await temporaryDirectory();
  const script = `echo $PWD > "$NS_OUTPUT_DIR/a.txt"; echo '"file:a.txt"'`;
  expect(await run(script, { cwd })).toBe('https://files/a.txt');
  expect(uploads).toEqual([`${cwd}\n`]);
});

const ours = 'https://queue.example.com/v1/files/abc';
test('file URLs of the input become local paths, each downloaded once; all else stays unchanged', async () => {
  const input = `{"a":"${ours}/cat.png", "b":["${ours}/cat.png","/v1/files/x/..%2f..%2fb.png"],
    "/v1/files/abc/key":1.0, "c":"https://elsewhere/cat.png", "d":"see ${ours}/cat.png"}`;
  const output = await outputOf('cat', { files: true }, input);
  const text = output instanceof JsonText ? output.text : '';
  const [cat, again, b] = [...text.matchAll(/"(\/[^"]*nowserving-input-[^"]*)"/g)].map(([, path]) => path!);
  expect([cat, again, b]).toEqual([
    expect.stringMatching(/\/1\/cat\.png$/),
    cat,
    expect.stringMatching(/\/2\/\.\._\.\._b\.png$/),
  ]);
  expect(text).toBe(
    input
      .replace(`"${ours}/cat.png"`, `"${cat}"`)
      .replace(`"${ours}/cat.png"`, `"${cat}"`)
      .replace('/v1/files/x/..%2f..%2fb.png', b!),
  );
  expect(existsSync(cat!)).toBe(false);
});

test('a command can read a downloaded file', async () => {
  await run(`cat "$(tr -d '"')"`, { files: true, stdout: 'text' }, `${ours}/cat.png`);
  expect(text()).toBe(`content of ${ours}/cat.png`);
});

test('files that the output names are uploaded', async () => {
  expect(await run(`printf abc > a.txt; echo '{"file":"file:a.txt"}'`)).toEqual({
    file: 'https://files/a.txt',
  });
  expect(uploads).toEqual(['abc']);
});

test('a file outside of the output folder is not uploaded', async () => {
  await expect(run(`ln -s /etc/hostname a.txt; echo '"file:a.txt"'`)).rejects.toThrow(
    'leads out of NS_OUTPUT_DIR',
  );
  expect(uploads).toEqual([]);
});

test.each([
  [65, Fail],
  [3, Retry],
  [78, HandBack],
])('exit code %i decides the kind of failure', async (code, kind) => {
  await expect(run(`echo 1; exit ${code}`)).rejects.toThrow(kind);
});

test('an error that a command prints becomes the failure of its run', async () => {
  const said = `echo '{"type":"error","message":"no GPU","retryable":true}'; exit `;
  const ended = (code: number): Promise<unknown> => run(said + code, { stdout: 'ndjson' });
  for (const code of [0, 1]) await expect(ended(code)).rejects.toEqual(new Retry({ message: 'no GPU' }));
  for (const code of [64, 65, 66]) {
    const failed = await ended(code).catch((error: unknown) => error);
    expect([failed, failed instanceof Fail]).toEqual([new Fail('no GPU'), true]);
  }
  for (const code of [78, 126, 127]) await expect(ended(code)).rejects.toThrow(HandBack);
});

test('a run is handed back if its command cannot be started', async () => {
  await expect(run('', { command: 'no-such-program' })).rejects.toThrow(HandBack);
  await expect(run('', { command: '/etc/hostname' })).rejects.toThrow(HandBack);
});

/** A script that prints `printed`, and once it gets SIGTERM prints `last` and succeeds. */
const untilTerm = (printed: string, last: string): string =>
  `trap 'printf "${last}"; exit 0' TERM; printf '${printed}'; echo ready >&2; while :; do sleep 0.01; done`;

test('a cancelled command gets SIGTERM and may still print its output', async () => {
  const over = run(untilTerm('', '2'));
  await until(() => events.length > 0);
  stop.controller.abort(new Stopped('cancelled'));
  expect(await over).toBe(2);
});

test.each<[StopReason, Command['stdout'], string]>([
  ['shutdown', 'json', ''],
  ['timed_out', 'json', ''],
  ['shutdown', 'text', 'a'],
  ['cancelled', 'text', 'a'],
  ['cancelled', 'ndjson', '{"type":"delta","delta":"a"}\\n'],
])('the text of a stopped command (%s, %s) is not its output', async (reason, stdout, printed) => {
  const over = run(untilTerm(printed, stdout === 'json' ? '2' : ''), { stdout });
  await until(() => events.some(({ type }) => type === 'log'));
  stop.controller.abort(new Stopped(reason));
  await expect(over).rejects.toEqual(new Stopped(reason));
});

test('a command that ignores SIGTERM is killed, with all its child processes', async () => {
  const script = `trap '' TERM; sleep 1000 & echo $! >&2; wait; wait`;
  const over = run(script, { stdout: 'text', killAfterMs: 100 });
  const pid = await until(() => events[0]?.type === 'log' && Number(events[0].message));
  stop.controller.abort(new Stopped('timed_out'));
  await expect(over).rejects.toThrow('The command was ended by SIGKILL.');
  await until(() => !isAlive(pid));
});

test('processes that a command leaves behind are ended', async () => {
  const pid = (await run('sleep 1000 >/dev/null 2>&1 & echo $!')) as number;
  await until(() => !isAlive(pid));
});

test('a process outside of the command’s group that holds its pipe is not waited for', async () => {
  const pid = (await run('setsid sleep 1000 & echo $!')) as number;
  process.kill(pid, 'SIGKILL');
});

test('standard output is read to its end, even if the service is slow to accept it', async () => {
  const script = `head -c 120000 /dev/zero | tr '\\0' a; echo $$ >&2`;
  let isFirst = true;
  const outcome = outputOf(script, { stdout: 'text' }, '{}', async () => {
    if (!isFirst) return;
    isFirst = false;
    const pid = await until(() => events.some(({ type }) => type === 'log') && pidOf(events));
    await until(() => !isAlive(pid));
    const endedMs = performance.now();
    await until(() => performance.now() - endedMs > 3_000); // longer than idle pipes stay open
  });
  await outcome;
  expect(text()).toBe('a'.repeat(120_000));
}, 60_000);

function pidOf(said: readonly RunEvent[]): number {
  const line = said.find(({ type }) => type === 'log') as { message: string };
  return Number(line.message);
}
