import { ModelServer } from '../support/model-server.js';
import { startTestService, type TestService, until } from '../support/index.js';

let server: ModelServer;
let service: TestService;

beforeAll(async () => {
  server = await new ModelServer().start();
  const models = `
models:
  - id: test/http
    runner: { kind: http, url: "${server.url}", headers: { authorization: "Bearer \${MODEL_TOKEN}" } }
    concurrency: 4
    attempts: 1
  - id: test/short
    runner: { kind: http, url: "${server.url}" }
    timeout: 300ms
    attempts: 1
`;
  service = await startTestService({ models, config: { environment: { MODEL_TOKEN: 'model-secret' } } });
});

afterAll(async () => {
  await service.stop();
  await server.stop();
});

beforeEach(() => {
  server.calls.length = 0;
});

async function submit(model: string, input: object = { prompt: 'a' }): Promise<string> {
  const response = await service.submit(model, input);
  expect(response.status).toBe(202);
  return ((await response.json()) as { request_id: string }).request_id;
}

async function completed(id: string): Promise<Response> {
  await until(
    async () => {
      const status = await service.get(`/v1/queue/requests/${id}/status`);
      return ((await status.json()) as { status: string }).status === 'COMPLETED';
    },
    { message: 'the request completes' },
  );
  return service.get(`/v1/queue/requests/${id}`);
}

describe('a request to an http model', () => {
  it('reaches the model as it was sent and comes back as it was answered', async () => {
    const output = '{"seed":12345678901234567890}';
    server.answer = ({ response }) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(output);
    const id = await submit('test/http', { prompt: 'é' });
    const response = await completed(id);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(output);
    expect(server.calls[0]).toMatchObject({ body: '{"prompt":"é"}' });
    expect(server.calls[0]!.headers).toMatchObject({
      'x-request-id': id,
      'x-attempt': '1',
      authorization: 'Bearer model-secret',
    });
  });

  it('shows the log lines of the model while it runs', async () => {
    server.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write('{"type":"log","level":"WARN","message":"halfway"}\n');
    };
    const id = await submit('test/http');
    const log = await until(
      async () => {
        const status = await service.get(`/v1/queue/requests/${id}/status?logs=1`);
        const { logs } = (await status.json()) as { logs: { message: string }[] };
        return logs.find(({ message }) => message === 'halfway');
      },
      { message: 'the log line is seen' },
    );
    expect(log).toMatchObject({ level: 'WARN', source: 'runner' });
    server.calls[0]!.response.end('{"type":"output","output":[]}\n');
    expect(await (await completed(id)).text()).toBe('[]');
  });

  it("ends with the model's own 4xx and what it said", async () => {
    server.answer = ({ response }) => response.writeHead(422).end('{"why":"no such style"}');
    const response = await completed(await submit('test/http'));
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: 'model_error', details: { why: 'no such style' } });
  });

  it('ends with 502 where the model broke, and shows no secret', async () => {
    server.answer = ({ response }) => response.writeHead(500).end('Traceback: model-secret');
    const response = await completed(await submit('test/http'));
    expect(response.status).toBe(502);
    const body = await response.text();
    expect(JSON.parse(body)).toMatchObject({ code: 'model_error' });
    expect(body).not.toContain('model-secret');
  });

  it('ends with 504 where the model took too long, and hangs up on it', async () => {
    server.answer = () => undefined;
    const response = await completed(await submit('test/short'));
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ code: 'timed_out' });
    await until(() => server.calls[0]!.closed, { message: 'the connection is closed' });
  });

  it('hangs up on the model when it is cancelled', async () => {
    server.answer = () => undefined;
    const id = await submit('test/http');
    await until(() => server.calls.length === 1, { message: 'the model is called' });
    const cancelled = await service.put(`/v1/queue/requests/${id}/cancel`);
    expect(cancelled.status).toBe(202);
    expect((await completed(id)).status).toBe(499);
    await until(() => server.calls[0]!.closed, { message: 'the connection is closed' });
  });
});
