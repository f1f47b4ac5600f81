// Follows a story while the model writes it: node examples/follow.mjs story/worker "The harbour"
import { createClient } from 'nowserving';

const [model, prompt] = process.argv.slice(2);
const queue = createClient({ url: process.env.NOWSERVING_URL, key: process.env.NOWSERVING_KEY });

const { request_id } = await queue.submit(model, { input: { prompt } });
process.stdout.write(prompt);
for await (const delta of queue.output(request_id)) process.stdout.write(delta);
process.stdout.write('\n');
