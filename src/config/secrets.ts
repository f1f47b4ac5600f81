const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** A Standard Webhooks secret: `whsec_` and 24 to 64 bytes in base64. The error message never shows the value. */
export function parseWebhookSecret(value: string): string {
  const text = value.startsWith('whsec_') ? value.slice('whsec_'.length) : '';
  const { length } = Buffer.from(text, 'base64');
  if (!base64.test(text) || length < 24 || length > 64) {
    throw new Error(
      'expected whsec_ and 24 to 64 random bytes in base64 (openssl rand -base64 32 makes them)',
    );
  }
  return value;
}

/** An AES-256 key: 32 bytes, in base64 or hex. */
export function parseSecretsKey(value: string): Buffer {
  const key = Buffer.from(value, /^[0-9a-f]{64}$/i.test(value) ? 'hex' : 'base64');
  if (key.length !== 32 || (!base64.test(value) && !/^[0-9a-f]{64}$/i.test(value))) {
    throw new Error('expected 32 random bytes in base64 or hex, as openssl rand -base64 32 makes them');
  }
  return key;
}
