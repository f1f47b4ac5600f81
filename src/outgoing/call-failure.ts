/** The failure of a call that got no answer, or only a part of one. */
export class CallFailure extends Error {
  /** Such as `ECONNRESET`. Unlike the cause's message, it contains no address. */
  readonly code: string | undefined;

  /** `wasConnected`: a part of the call may have reached the server. */
  constructor(
    cause: unknown,
    readonly wasConnected: boolean,
  ) {
    super('the call got no whole answer', { cause });
    const { code = '' } = cause as NodeJS.ErrnoException;
    this.code = /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : undefined;
  }

  /** The code in brackets, to be put at the end of a sentence. */
  get codeWords(): string {
    return this.code === undefined ? '' : ` (${this.code})`;
  }
}
