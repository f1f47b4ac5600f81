import type { Call } from '../model-server.js';

/** Ollama, after https://github.com/ollama/ollama/blob/main/docs/api.md. It streams unless it is told not to. */
export function ollama({ body, response }: Call): void {
  const { model, messages, stream } = JSON.parse(body) as {
    model: string;
    messages: { content: string }[];
    stream?: boolean;
  };
  const said = messages.at(-1)!.content;
  const role = 'assistant';
  const last = { model, done: true, done_reason: 'stop', eval_count: 3 };
  if (stream === false) {
    const text = JSON.stringify({ ...last, message: { role, content: said } });
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(text);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const line = (value: unknown): unknown => response.write(`${JSON.stringify(value)}\n`);
  for (const content of said.match(/\S+\s*/g) ?? []) line({ model, message: { role, content }, done: false });
  if (said.startsWith('fail')) line({ error: 'an error was encountered while running the model' });
  else line({ ...last, message: { role, content: '' } });
  response.end();
}
