/** What a caller does, by the client library at the path of the first argument. Prints how each call ended. */
const [library, url, key] = process.argv.slice(2);
const { createClient } = await import(library);
const queue = createClient({ url, key });
const model = 'up/http';
const ends = {};

const { output } = await queue.run(model, { input: { n: 1, ms: 100 } });
ends.run = output;

const { request_id: followed } = await queue.submit(model, { input: { n: 2, ms: 500 } });
for await (const { status } of queue.follow(followed)) ends.stream = status;
ends.result = (await queue.result(followed)).output;
ends.status = (await queue.status(followed)).status;

const { request_id: cancelled } = await queue.submit(model, { input: { n: 3, ms: 60_000 } });
await queue.cancel(cancelled);
ends.cancel = await codeOf(queue.result(cancelled));

if (queue.batches !== undefined) {
  const lines = [{ customId: 'a', input: { n: 4, ms: 1 } }];
  ends.batch = await codeOf(queue.batches.create(lines, { model }));
}
process.stdout.write(JSON.stringify(ends));

function codeOf(call) {
  return call.then(
    () => 'accepted',
    ({ code, status }) => [code, status].filter((part) => part !== undefined).join(' '),
  );
}
