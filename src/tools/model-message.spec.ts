import { messageIn } from './model-message.js';

const traceback = `Traceback (most recent call last):
  File "serve.py", line 12, in run
    image = pipe(prompt)
torch.OutOfMemoryError: CUDA out of memory.
`;

it.each([
  ["OpenAI's", { error: { message: 'out of memory', type: 'server_error' } }, 'out of memory'],
  ['a text as the error', { error: 'no such adapter' }, 'no such adapter'],
  ["FastAPI's", { detail: 'the model is not loaded' }, 'the model is not loaded'],
  [
    "FastAPI's of an input",
    { detail: [{ type: 'less_than_equal', loc: ['body', 'width'], msg: 'Input should be less than 2048' }] },
    'body.width: Input should be less than 2048',
  ],
  [
    "RFC 9457's",
    { title: 'Too large', detail: 'The picture has 9 megapixels.' },
    'The picture has 9 megapixels.',
  ],
  [
    'details that are a text',
    { error: { code: 7 }, details: 'The seed is too large.' },
    'The seed is too large.',
  ],
  ['RFC 9457 without a detail', { type: 'about:blank', title: 'Too large' }, 'Too large'],
  ['a JSON text', 'busy', 'busy'],
  ['a text', '\n  overloaded, try later  \nid 7', 'overloaded, try later'],
  ['a traceback', traceback, 'torch.OutOfMemoryError: CUDA out of memory.'],
  ['a page', '<!doctype html><title>502 Bad Gateway</title>', undefined],
  ['nothing', '', undefined],
  ['other JSON', { ok: false, code: 7 }, undefined],
  ['a number', 7, undefined],
  ['an empty list', { detail: [] }, undefined],
  ['what PostgreSQL cannot hold', 'bad\0', 'bad\ufffd'],
])('reads %s', (_, body, line) => {
  expect(messageIn(body)).toBe(line);
});

it('is a line of 300 characters at most', () => {
  expect(messageIn('x'.repeat(1_000))).toBe(`${'x'.repeat(300)}…`);
});
