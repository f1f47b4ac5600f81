import { measureStreams } from './deltas.js';

const body = JSON.stringify({
  model: 'meta-llama/Llama-3.1-8B-Instruct',
  messages: [{ role: 'user', content: 'Tell me a story.' }],
  stream: true,
  stream_options: { include_usage: true },
});

export const scene = {
  number: 38,
  name: 'preset-streams',
  title: '200 streams of 50 tokens/s through the preset openai',
  /** @param {import('../support/bench.js').Bench} bench */
  run: (bench) => measureStreams(bench, { model: 'bench/chat', body, mostCores: 0.6 }),
};
