import type { Call } from '../model-server.js';

/**
 * Text Generation Inference, after
 * https://huggingface.co/docs/text-generation-inference/reference/api_reference.
 */
export function tgi({ body, url, response }: Call): void {
  if (url === '/health') {
    response.writeHead(200).end();
    return;
  }
  const { inputs } = JSON.parse(body) as { inputs: string };
  if (inputs === 'too much') {
    const text = JSON.stringify({ error: 'Model is overloaded', error_type: 'overloaded' });
    response.writeHead(429, { 'content-type': 'application/json' }).end(text);
    return;
  }
  if (url.endsWith('/generate')) {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ generated_text: inputs }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const words = inputs.match(/\S+\s*/g) ?? [];
  words.forEach((text, at) => {
    const token = { id: at, text, logprob: -0.5, special: false };
    response.write(
      `data:${JSON.stringify({ index: at + 1, token, generated_text: null, details: null })}\n\n`,
    );
  });
  if (inputs.startsWith('fail')) {
    response.end(
      `data:${JSON.stringify({ error: 'Request failed during generation', error_type: 'generation' })}\n\n`,
    );
    return;
  }
  const token = { id: 2, text: '</s>', logprob: -0.1, special: true };
  const last = { index: words.length + 1, token, generated_text: inputs, details: null };
  response.end(`data:${JSON.stringify(last)}\n\n`);
}
