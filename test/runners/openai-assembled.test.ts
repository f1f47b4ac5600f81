import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream';
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';
import { assemblerOf } from '../../src/json/assemblers.js';
import { recorded } from '../support/recorded-streams.js';

type Choice = ChatCompletionChunk['choices'][0];
type Delta = Choice['delta'];

const head = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'llama',
} as const;

function chunk(delta: Delta, finish: Choice['finish_reason'] = null, index = 0): ChatCompletionChunk {
  return { ...head, choices: [{ index, delta, logprobs: null, finish_reason: finish }] };
}

/** Returns a chunk of Azure OpenAI. */
function withFilter({ choices, ...others }: ChatCompletionChunk, filtered: boolean): ChatCompletionChunk {
  const content_filter_results = { hate: { filtered, severity: 'safe' } };
  return { ...others, choices: choices.map((choice) => ({ ...choice, content_filter_results })) };
}

const calling = (index: number, call: object): Delta => ({ tool_calls: [{ index, ...call }] });

/** Returns the answer as OpenAI's own client puts it together. */
async function byOfficialClient(chunks: readonly ChatCompletionChunk[]): Promise<ChatCompletion> {
  const lines = chunks.map((one) => `${JSON.stringify(one)}\n`);
  const stream = new ReadableStream({
    start: (controller) => {
      for (const line of lines) controller.enqueue(new TextEncoder().encode(line));
      controller.close();
    },
  });
  return ChatCompletionStream.fromReadableStream(stream).finalChatCompletion();
}

function byAssembler(chunks: readonly ChatCompletionChunk[]): ChatCompletion {
  const assembler = assemblerOf('chat');
  for (const one of chunks) assembler.add(structuredClone(one) as unknown as Record<string, unknown>);
  expect(assembler.isComplete).toBe(true);
  return assembler.output as ChatCompletion;
}

/** The client adds members that are null or not set. */
function plain(completion: ChatCompletion): object {
  const { choices, ...others } = completion;
  return {
    ...others,
    choices: choices.map(({ message, ...choice }) => {
      const { refusal, parsed: _parsed, ...said } = message as typeof message & { parsed?: unknown };
      return {
        ...choice,
        message: { ...said, ...(refusal !== null && refusal !== undefined && { refusal }) },
      };
    }),
  };
}

const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };

const answers: Record<string, ChatCompletionChunk[]> = {
  'texts of two choices in turn': [
    chunk({ role: 'assistant', content: '' }, null, 1),
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'b1' }, null, 1),
    chunk({ content: 'a1' }),
    chunk({ content: 'b2' }, 'length', 1),
    chunk({ content: 'a2' }, 'stop'),
    { ...head, choices: [], usage },
  ],
  'calls of tools in two choices, in turn': [
    chunk({ role: 'assistant', content: null }),
    chunk({ role: 'assistant', content: null }, null, 1),
    ...[0, 1].flatMap((choice) => [
      chunk(
        calling(0, { id: `call_${choice}`, type: 'function', function: { name: 'weather', arguments: '' } }),
        null,
        choice,
      ),
      chunk(
        calling(1, { id: `other_${choice}`, type: 'function', function: { name: 'time', arguments: '{' } }),
        null,
        choice,
      ),
      chunk(calling(0, { function: { arguments: '{"city":' } }), null, choice),
    ]),
    ...[1, 0].flatMap((choice) => [
      chunk(calling(0, { function: { arguments: '"Oslo"}' } }), null, choice),
      chunk(calling(1, { function: { arguments: '}' } }), null, choice),
      chunk({}, 'tool_calls', choice),
    ]),
  ],
  'a call whose name and id each chunk repeats, or leaves empty': [
    chunk({ role: 'assistant', content: null }),
    chunk(calling(0, { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"a"' } })),
    chunk(calling(0, { id: 'call_1', type: 'function', function: { name: 'weather', arguments: ':1' } })),
    chunk(calling(0, { id: '', type: 'function', function: { name: '', arguments: '}' } })),
    chunk({}, 'tool_calls'),
  ],
  'a text before a call': [
    chunk({ role: 'assistant', content: 'Let me see. ' }),
    chunk({ content: 'A moment.' }),
    chunk(calling(0, { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } })),
    chunk({}, 'tool_calls'),
  ],
  'a refusal': [
    chunk({ role: 'assistant', content: null, refusal: '' }),
    chunk({ refusal: 'I ' }),
    chunk({ refusal: 'cannot.' }),
    chunk({}, 'stop'),
  ],
  'log probabilities': [
    chunk({ role: 'assistant', content: '' }),
    ...['a', 'b'].map((token) => ({
      ...head,
      choices: [
        {
          index: 0,
          delta: { content: token },
          logprobs: { content: [{ token, logprob: -0.1, bytes: [97], top_logprobs: [] }], refusal: null },
          finish_reason: null,
        },
      ],
    })),
    chunk({}, 'stop'),
  ],
  'filter results that each chunk repeats': [
    chunk({ role: 'assistant', content: '' }),
    ...[true, false].map((filtered) => withFilter(chunk({ content: 'a' }), filtered)),
    withFilter(chunk({}, 'stop'), false),
  ],
  'a service tier and a fingerprint that come late': [
    { ...chunk({ role: 'assistant', content: 'a' }), service_tier: null },
    { ...chunk({ content: 'b' }), service_tier: 'default', system_fingerprint: 'fp_1' },
    { ...chunk({}, 'stop'), service_tier: 'default', system_fingerprint: 'fp_1' },
  ],
};

test.each(Object.entries(answers))("the answer is that of OpenAI's client: %s", async (_, chunks) => {
  expect(plain(byAssembler(chunks))).toEqual(plain(await byOfficialClient(chunks)));
});

test.each(Object.entries(recorded).filter(([, { url, preset }]) => preset === 'openai' && url === undefined))(
  "the recorded answer is that of OpenAI's client: %s",
  async (_, { stream, answer }) => {
    const events = stream.split('\n\n').filter((event) => event !== '' && event !== 'data: [DONE]');
    const chunks = events.map((event) => JSON.parse(event.replace('data: ', '')) as ChatCompletionChunk);
    expect(plain(answer as ChatCompletion)).toEqual(plain(await byOfficialClient(chunks)));
  },
);

test('thousands of tool calls are continued without a search for each', () => {
  let reads = 0;
  const calls = (part: string): object[] =>
    Array.from({ length: 1_000 }, (_, at) => ({
      get index(): number {
        reads++;
        return at;
      },
      set index(_same: number) {},
      function: { arguments: part },
    }));
  const assembler = assemblerOf('chat');
  for (const part of ['a', 'b'])
    assembler.add({
      choices: [
        { index: 0, delta: { tool_calls: [] } },
        { index: 0, delta: { tool_calls: calls(part) } },
      ],
    });
  const { choices } = assembler.output as { choices: [{ message: { tool_calls: object[] } }] };
  expect(choices[0].message.tool_calls[999]).toEqual({ function: { arguments: 'ab' } });
  expect(reads).toBeLessThan(50_000);
});

test.each([
  ['chat', { delta: { content: 'a' } }, { message: { role: 'assistant', content: 'aa' } }],
  ['completion', { text: 'a' }, { text: 'aa' }],
] as const)('lists of a choice are continued, and other members replaced: %s', (kind, part, whole) => {
  const assembler = assemblerOf(kind);
  const more = { matched: 'stop', filter: { severity: 'safe' } };
  for (const finish_reason of [null, 'stop'])
    assembler.add({ choices: [{ index: 0, ...part, token_ids: [1], finish_reason, ...more }] });
  const choice = { index: 0, ...whole, token_ids: [1, 1], finish_reason: 'stop', ...more };
  expect(assembler.output).toMatchObject({ choices: [choice] });
});

test('a choice that has ended may begin again', () => {
  const assembler = assemblerOf('chat');
  const states = ['stop', null, 7, 'length'].map((reason) => {
    assembler.add({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
    return assembler.isComplete;
  });
  expect(states).toEqual([true, true, false, true]);
});
