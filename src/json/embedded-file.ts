const dataUrl = /^data:([^;,]*)(?:;[^;,]*)*?(;base64)?,/i;
const base64 = /^[A-Za-z0-9+/\r\n]+={0,2}$/;
/** A shorter text is no file, even if it could be read as base64. */
const minLength = 64;

export function isDataUrl(text: string): boolean {
  return dataUrl.test(text.slice(0, 1_000));
}

/** The media type of bytes whose beginning shows no other. */
export const unknownType = 'application/octet-stream';

/** Returns the file that a text embeds, as a data URL or as base64. undefined: it embeds none. */
export function fileBytes(text: string): { bytes: Buffer; contentType: string } | undefined {
  const url = dataUrl.exec(text.slice(0, 1_000));
  if (url !== null) {
    const rest = text.slice(url[0].length);
    const bytes = url[2] === undefined ? percentDecoded(rest) : Buffer.from(rest, 'base64');
    return { bytes, contentType: url[1] === '' ? 'text/plain' : url[1]! };
  }
  if (text.length < minLength || !base64.test(text.trimEnd())) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return { bytes, contentType: typeOf(bytes) };
}

/** Returns the bytes of a text in which `%` begins a byte. What cannot be decoded stays as it is. */
function percentDecoded(text: string): Buffer {
  const bytes = Buffer.from(text).toString('latin1');
  const decoded = bytes.replace(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(decoded, 'latin1');
}

/** Returns the media type that the first bytes of a file show. */
function typeOf(bytes: Buffer): string {
  const head = bytes.subarray(0, 16).toString('latin1');
  const found = beginnings.find(([beginning]) => beginning.test(head));
  return found?.[1] ?? unknownType;
}

const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF[^]{4}WEBP/, 'image/webp'],
  [/^RIFF[^]{4}WAVE/, 'audio/wav'],
  [/^(?:ID3|\xff[\xfb\xf3\xf2])/, 'audio/mpeg'],
  [/^\xff[\xf1\xf9]/, 'audio/aac'],
  [/^OggS/, 'audio/ogg'],
  [/^fLaC/, 'audio/flac'],
  [/^[^]{4}ftyp/, 'video/mp4'],
  [/^%PDF-/, 'application/pdf'],
];
