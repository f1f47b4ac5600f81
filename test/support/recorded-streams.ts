export interface RecordedStream {
  preset: string;
  /** undefined: that of a chat of OpenAI's API. */
  url?: string;
  /** undefined: an event stream. */
  kind?: 'lines';
  stream: string;
  /** The texts of its deltas. */
  said: string;
  /** The output that it makes. */
  answer: unknown;
}

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'llama' };
export const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
export const chunk = (delta: object, finish: string | null = null, index = 0): string =>
  event({ ...head, choices: [{ index, delta, logprobs: null, finish_reason: finish }] });
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
export const done = 'data: [DONE]\n\n';

const transcription = { ...head, id: 'trsc-1', object: 'transcription.chunk' };
const segment = (delta: object, finish: string | null = null): string =>
  event({ ...transcription, choices: [{ delta, finish_reason: finish }] });

const message = {
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Héllo 👋', annotations: [] }],
};
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  model: 'llama',
  error: null,
  output: [message],
  usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 },
};

/** Streams with the answers that the servers would have given without `stream`. */
export const recorded: Readonly<Record<string, RecordedStream>> = {
  'a chat': {
    preset: 'openai',
    stream: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hé' }),
      chunk({ content: 'llo 👋' }),
      chunk({}, 'stop'),
      event({ ...head, choices: [], usage }),
      done,
    ].join(''),
    said: 'Héllo 👋',
    answer: {
      ...head,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Héllo 👋' },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage,
    },
  },
  'a chat with two choices that come in turn': {
    preset: 'openai',
    stream: [
      chunk({ role: 'assistant', content: '' }, null, 1),
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'b1' }, null, 1),
      chunk({ content: 'a1' }),
      chunk({ content: 'a2' }),
      chunk({}, 'stop'),
      chunk({ content: 'b2' }, null, 1),
      chunk({}, 'length', 1),
      done,
    ].join(''),
    said: 'a1a2',
    answer: {
      ...head,
      object: 'chat.completion',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'a1a2' }, logprobs: null, finish_reason: 'stop' },
        {
          index: 1,
          message: { role: 'assistant', content: 'b1b2' },
          logprobs: null,
          finish_reason: 'length',
        },
      ],
    },
  },
  'calls of tools': {
    preset: 'openai',
    stream: [
      chunk({
        role: 'assistant',
        content: null,
        tool_calls: [
          { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } },
        ],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
      chunk({
        tool_calls: [
          { index: 1, id: 'call_2', type: 'function', function: { name: 'time', arguments: '{' } },
        ],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
      chunk({ tool_calls: [{ index: 1, function: { arguments: '}' } }] }),
      chunk({}, 'tool_calls'),
      done,
    ].join(''),
    said: '',
    answer: {
      ...head,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
              { id: 'call_2', type: 'function', function: { name: 'time', arguments: '{}' } },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
    },
  },
  'a completion': {
    preset: 'openai',
    url: 'http://gpu:8000/v1/completions',
    stream: [
      event({
        id: 'c1',
        object: 'text_completion',
        choices: [{ index: 0, text: 'one ', finish_reason: null }],
      }),
      event({
        id: 'c1',
        object: 'text_completion',
        choices: [{ index: 0, text: 'two', finish_reason: 'stop' }],
      }),
      done,
    ].join(''),
    said: 'one two',
    answer: {
      id: 'c1',
      object: 'text_completion',
      choices: [{ index: 0, text: 'one two', finish_reason: 'stop' }],
    },
  },
  'a completion of llama.cpp': {
    preset: 'llama.cpp',
    stream: [
      ...['Once', ' upon', ' a time'].map((content) => event({ index: 0, content, stop: false })),
      event({ index: 0, content: '', stop: true, stop_type: 'limit', tokens_predicted: 3 }),
    ].join(''),
    said: 'Once upon a time',
    answer: { index: 0, content: 'Once upon a time', stop: true, stop_type: 'limit', tokens_predicted: 3 },
  },
  'a generation of TGI': {
    preset: 'tgi',
    stream: [
      'data:{"index":1,"token":{"id":7,"text":" deep","logprob":-0.1,"special":false},"generated_text":null,"details":null}\r\n\r\n',
      ':keep-alive\r\n\r\n',
      'data:{"index":2,"token":{"id":2,"text":"</s>","logprob":-0.1,"special":true},"generated_text":" deep","details":null}\r\n\r\n',
    ].join(''),
    said: ' deep',
    answer: { generated_text: ' deep' },
  },
  'an empty generation of TGI': {
    preset: 'tgi',
    stream:
      'data:{"index":1,"token":{"id":2,"text":"</s>","logprob":-0.1,"special":true},"generated_text":"","details":null}\n\n',
    said: '',
    answer: { generated_text: '' },
  },
  'a prediction of Cog': {
    preset: 'cog',
    stream: [
      'event: start\ndata: {"id":"abc123","status":"processing"}\n\n',
      ':keep-alive\n\n',
      'event: log\ndata: {"source":"stderr","data":"loading\\n"}\n\n',
      'event: output\ndata: {"chunk":"Onions","index":0}\n\n',
      'event: metric\ndata: {"name":"tokens","value":1,"mode":"incr"}\n\n',
      'event: output\ndata: {"chunk":" bloom","index":1}\n\n',
      'event: completed\ndata: {"id":"abc123","status":"succeeded","output":["Onions"," bloom"],"metrics":{"predict_time":0.42}}\n\n',
    ].join(''),
    said: 'Onions bloom',
    answer: ['Onions', ' bloom'],
  },
  'a transcription': {
    preset: 'openai',
    url: 'http://gpu:8000/v1/audio/transcriptions',
    stream: [
      event({ type: 'transcript.text.delta', delta: 'Hello' }),
      event({ type: 'transcript.text.delta', delta: ' there' }),
      event({
        type: 'transcript.text.done',
        text: 'Hello there',
        usage: { type: 'tokens', total_tokens: 9 },
      }),
    ].join(''),
    said: 'Hello there',
    answer: { text: 'Hello there', usage: { type: 'tokens', total_tokens: 9 } },
  },
  'a transcription of vLLM or SGLang': {
    preset: 'openai',
    url: 'http://gpu:8000/v1/audio/transcriptions',
    stream: [
      segment({ content: 'Hello' }),
      // The audio is transcribed in parts, and each part has an end.
      segment({ content: ' there' }, 'stop'),
      segment({ content: ' again' }),
      segment({}, 'stop'),
      event({ ...transcription, choices: [], usage }),
      done,
    ].join(''),
    said: 'Hello there again',
    answer: { text: 'Hello there again', usage },
  },
  'a translation of vLLM': {
    preset: 'openai',
    url: 'http://gpu:8000/v1/audio/translations',
    stream: segment({ content: 'Hello' }) + segment({ content: ' there' }, 'stop') + done,
    said: 'Hello there',
    answer: { text: 'Hello there' },
  },
  'a response': {
    preset: 'openai',
    url: 'http://gpu:8000/v1/responses',
    stream: [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
      { type: 'response.reasoning_text.delta', item_id: 'rs_1', output_index: 0, delta: 'not a text' },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: 'Hé' },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: 'llo 👋' },
      { type: 'response.output_item.done', output_index: 0, item: message },
      { type: 'response.completed', response },
    ]
      .map(
        (one, sequence_number) =>
          `event: ${one.type}\ndata: ${JSON.stringify({ ...one, sequence_number })}\n\n`,
      )
      .join(''),
    said: 'Héllo 👋',
    answer: response,
  },
  'a generation of Ollama': {
    preset: 'ollama',
    kind: 'lines',
    stream: [
      { model: 'llama3', response: 'Hi', done: false },
      { model: 'llama3', response: ' there', done: false },
      { model: 'llama3', response: '', done: true, done_reason: 'stop', context: [1, 2], eval_count: 2 },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
    said: 'Hi there',
    answer: {
      model: 'llama3',
      response: 'Hi there',
      done: true,
      done_reason: 'stop',
      context: [1, 2],
      eval_count: 2,
    },
  },
  'a chat of Ollama': {
    preset: 'ollama',
    kind: 'lines',
    stream: [
      { model: 'llama3', message: { role: 'assistant', content: 'Hi' }, done: false },
      { model: 'llama3', message: { role: 'assistant', content: ' there' }, done: false },
      {
        model: 'llama3',
        message: { role: 'assistant', content: '' },
        done: true,
        done_reason: 'stop',
        eval_count: 2,
      },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
    said: 'Hi there',
    answer: {
      model: 'llama3',
      message: { role: 'assistant', content: 'Hi there' },
      done: true,
      done_reason: 'stop',
      eval_count: 2,
    },
  },
};
