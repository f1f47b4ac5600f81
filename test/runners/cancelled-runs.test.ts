import { startTestService, until } from '../support/index.js';
import { type Call, ModelServer } from '../support/model-server.js';
import { QueueCalls } from '../support/queue-calls.js';

function modelOf(id: string, { url }: ModelServer): object {
  const call = { url: '{url}/{$.id}' };
  const follow = { ...call, every: '10ms', done: '$.done', cancel: { ...call, method: 'DELETE' } };
  return { id, runner: { kind: 'http', url, follow } };
}

const looksAt = ({ calls }: ModelServer): number => calls.filter(({ method }) => method === 'GET').length;
const cancelsAt = ({ calls }: ModelServer): Call[] => calls.filter(({ method }) => method === 'DELETE');

test('a server that does not answer a cancel delays no other server, and gets no second cancel meanwhile', async () => {
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
    const cancelOne = async (model: string, server: ModelServer): Promise<void> => {
      const [asked, before] = [looksAt(server), cancelsAt(server).length];
      const id = await calls.submit(model);
      await until(() => looksAt(server) > asked);
      await calls.cancel(id);
      await until(() => cancelsAt(server).length > before);
    };
    await cancelOne('test/silent', silent);
    await cancelOne('test/other', other);
    expect(cancelsAt(silent)[0]!.closed).toBe(false);
    // As if ten seconds had passed.
    await service.query(
      `UPDATE followed_run SET cancel_after = clock_timestamp() WHERE model_id = 'test/silent'`,
    );
    await cancelOne('test/other', other);
    expect(
      await service.query(`SELECT cancel_tries AS tries FROM followed_run WHERE model_id = 'test/silent'`),
    ).toEqual([{ tries: 1 }]);
    expect(cancelsAt(silent)).toHaveLength(1);
  } finally {
    await Promise.all([silent.stop(), other.stop()]);
    await service.stop();
  }
});
