// Reads a picture and prints its text while it grows: node examples/ocr/read.mjs ocr/worker examples/ocr/harbour.png
import { createClient, file } from 'nowserving';

const [model, picture] = process.argv.slice(2);
const queue = createClient({ url: process.env.NOWSERVING_URL, key: process.env.NOWSERVING_KEY });

const { request_id } = await queue.submit(model, { input: { image: file(picture) } });
for await (const text of queue.output(request_id)) process.stdout.write(text);
