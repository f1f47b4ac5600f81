import { startTestService, until } from '../support/index.js';
import { type Call, ModelServer } from '../support/model-server.js';
import { QueueCalls } from '../support/queue-calls.js';

function modelOf(id: string, { url }: ModelServer): object {
  const call = { url: '{url}/{$.id}' };
  const follow = { ...call, every: '10ms', done: '$.done', cancel: { ...call, method: 'DELETE' } };
  return { id, runner: { kind: 'http', url, follow } };
}

const cancelsAt = ({ calls }: ModelServer): Call[] => calls.filter(({ method }) => method === 'DELETE');

test('a server that does not answer a cancel delays those of no other server', async () => {
  const silent = await new ModelServer().start();
  const other = await new ModelServer().start();
  other.respond = ({ response }) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":1}');
  silent.respond = (call) => {
    if (call.method !== 'DELETE') other.respond(call);
  };
  const models = JSON.stringify({ models: [modelOf('test/silent', silent), modelOf('test/other', other)] });
  const service = await startTestService({ limits: 'off', models });
  try {
    const calls = new QueueCalls(service);
    for (const [model, server] of [['test/silent', silent] as const, ['test/other', other] as const]) {
      const id = await calls.submit(model);
      await until(() => server.calls.some(({ method }) => method === 'GET'));
      await calls.cancel(id);
      await until(() => cancelsAt(server).length > 0);
    }
    expect(cancelsAt(silent)[0]!.closed).toBe(false);
  } finally {
    await Promise.all([silent.stop(), other.stop()]);
    await service.stop();
  }
});
