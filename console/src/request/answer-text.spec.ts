import { answerTexts, deltaText } from './answer-text';

const chat = (delta: object, index = 0) => ({
  object: 'chat.completion.chunk',
  choices: [{ index, delta, finish_reason: null }],
});

it.each<[server: string, delta: unknown, text: string | undefined]>([
  ['any', 'Once', 'Once'],
  ['OpenAI, chat', chat({ content: 'Once' }), 'Once'],
  ['OpenAI, the first chunk of a chat', chat({ role: 'assistant', content: null }), ''],
  ['OpenAI, another choice', chat({ content: 'Twice' }, 1), ''],
  ['OpenAI, the usage at the end', { object: 'chat.completion.chunk', choices: [], usage: {} }, ''],
  ['OpenAI, completion', { object: 'text_completion', choices: [{ index: 0, text: 'Once' }] }, 'Once'],
  ['OpenAI, transcription', { type: 'transcript.text.delta', delta: 'Once' }, 'Once'],
  ['Ollama, chat', { model: 'm', message: { role: 'assistant', content: 'Once' }, done: false }, 'Once'],
  ['Ollama, generate', { model: 'm', response: 'Once', done: true }, 'Once'],
  ['llama.cpp', { content: 'Once', stop: false }, 'Once'],
  ['TGI', { token: { id: 1, text: 'Once', special: false }, generated_text: null }, 'Once'],
  ['TGI, a mark', { token: { id: 2, text: '</s>', special: true }, generated_text: 'Once' }, ''],
  ['a model of its own', { content: 'a picture', tile: 7 }, undefined],
  ['a model of numbers', 7, undefined],
])('the text of a delta of %s', (_, delta, text) => expect(deltaText(delta)).toBe(text));

it.each<[server: string, output: unknown, texts: string[]]>([
  ['any', 'Once\nupon', ['Once\nupon']],
  [
    'OpenAI, two choices',
    { choices: [{ message: { role: 'assistant', content: 'Once' } }, { message: { content: 'Twice' } }] },
    ['Once', 'Twice'],
  ],
  ['OpenAI, a call of a tool', { choices: [{ message: { content: null, tool_calls: [{}] } }] }, []],
  ['OpenAI, completion', { choices: [{ text: 'Once' }] }, ['Once']],
  ['OpenAI, transcription', { text: 'Once' }, ['Once']],
  ['Ollama', { message: { role: 'assistant', content: 'Once' }, done: true }, ['Once']],
  ['llama.cpp', { content: 'Once', stop: true }, ['Once']],
  ['TGI', { generated_text: 'Once', details: null }, ['Once']],
  ['Cog, words', ['Once', ' upon', ' a time'], ['Once upon a time']],
  ['Cog, a list', ['cat', 'dog'], []],
  ['a prediction as it came', { status: 'succeeded', output: ['Once', ' upon'] }, ['Once upon']],
  ['a picture', { image: { url: 'https://example.org/a.png' } }, []],
  ['an empty text', '', []],
  ['null', null, []],
])('the texts of an output of %s', (_, output, texts) => expect(answerTexts(output)).toEqual(texts));
