import type { Call } from '../model-server.js';

/** The server of llama.cpp, after https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md. */
export function llamaCpp({ url, body, response }: Call): void {
  if (url === '/health') {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end('{"status":"ok"}');
    return;
  }
  const { prompt, stream } = JSON.parse(body) as { prompt: string; stream?: boolean };
  const words = prompt.match(/\S+\s*/g) ?? [];
  const last = {
    index: 0,
    stop: true,
    stop_type: 'eos',
    tokens_predicted: words.length,
    timings: { predicted_ms: 12.5 },
  };
  if (stream !== true) {
    const text = JSON.stringify({ ...last, content: prompt });
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const content of words)
    response.write(`data: ${JSON.stringify({ index: 0, content, stop: false })}\n\n`);
  if (prompt.startsWith('break')) response.end();
  else response.end(`data: ${JSON.stringify({ ...last, content: '' })}\n\n`);
}
