import { readLineMembers } from './batch-line.js';

const terms = { example: '{"custom_id": "1", "input": {}}', inputName: 'input', namesInInput: ['model'] };
const read = (text: string): ReturnType<typeof readLineMembers> => readLineMembers(Buffer.from(text), terms);

it('takes the input as it was written, and the members that are read', () => {
  const [members, input] = read('{"a": 1, "input": {"n": 1.0, "model": "x"}, "b": null}');
  expect(members).toEqual({ fields: { a: 1, b: null }, ofInput: { model: 'x' } });
  expect(input.toString()).toBe('{"n": 1.0, "model": "x"}');
});

it.each(['{"a": 1}', '{"a": 1, "input": [1]}', '{"a": 1, "input": null}'])('finds no input in %s', (text) => {
  const [members] = read(text);
  expect(members).toEqual({ fields: { a: 1 }, ofInput: undefined });
});

it('refuses a line that is not an object', () => {
  expect(() => read('[1]')).toThrow(`The body must be a JSON object, such as ${terms.example}.`);
});
