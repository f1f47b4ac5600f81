import { hash, randomBytes } from 'node:crypto';

/** A key as its holder has it. Printing, logging or serialising it by accident shows nothing. */
export class KeySecret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** 256 random bits. The fixed beginning lets secret scanners find a leaked key. */
  static generate(): KeySecret {
    return new KeySecret(`ns_${randomBytes(32).toString('base64url')}`);
  }

  reveal(): string {
    return this.#text;
  }

  hash(): Buffer {
    return Buffer.from(hashOf(this.#text), 'hex');
  }

  /** Returns enough to recognise the key by. Of a key that somebody chose, this is at most a quarter. */
  prefix(): string {
    const generated = /^ns_[\w-]{43}$/.test(this.#text);
    return this.#text.slice(0, generated ? 10 : Math.min(10, Math.floor(this.#text.length / 4)));
  }

  toJSON(): string {
    return '[secret]';
  }
}

/** SHA-256 in hex. It is fast, but enough for 256 random bits. A lookup by it compares no secret byte by byte. */
export function hashOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}
