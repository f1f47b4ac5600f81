import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pieceLength, piecesOf, writeInPieces } from './in-pieces.js';

async function received(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await (await fetch(`http://127.0.0.1:${port}`)).text();
  } finally {
    server.close();
  }
}

it('cuts a text into pieces without a change, and never within a surrogate pair', () => {
  const text = `${'a'.repeat(pieceLength - 1)}😀${'é'.repeat(pieceLength)}😀`;
  const pieces = [...piecesOf(text)];
  expect(pieces.length).toBeGreaterThan(2);
  expect(pieces.map((piece) => piece.toString()).join('')).toBe(text);
  expect(pieces.every((piece) => !piece.toString().includes('\ufffd'))).toBe(true);
});

it('writes later text after a long text, and ends after all of it', async () => {
  const long = 'x😀'.repeat(pieceLength);
  const text = await received((response) => {
    writeInPieces(response);
    response.write('first\n');
    expect(response.write(long)).toBe(false);
    response.write('\nthen\n');
    response.write(long);
    response.end();
  });
  expect(text).toBe(`first\n${long}\nthen\n${long}`);
});

it('emits drain when a writer may continue', async () => {
  const text = await received((response) => {
    writeInPieces(response);
    response.write('x'.repeat(pieceLength + 1));
    const goOn = (): void => {
      if (response.writableNeedDrain) return;
      response.off('drain', goOn).write('last');
      response.end();
    };
    response.on('drain', goOn);
  });
  expect(text).toHaveLength(pieceLength + 5);
});
