import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ivBytes = 12;
const tagBytes = 16;

/**
 * Encrypts with AES-256-GCM. `context` is the owner of the secret. A box sealed for one context does not open for
 * another.
 */
export function seal(key: Buffer, secret: string, context: string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes }).setAAD(
    Buffer.from(context),
  );
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** Throws if the box was sealed with another key or context, or was changed. */
export function open(key: Buffer, box: Buffer, context: string): string {
  const [iv, tag] = [box.subarray(0, ivBytes), box.subarray(ivBytes, ivBytes + tagBytes)];
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(tag);
  const opened = Buffer.concat([decipher.update(box.subarray(ivBytes + tagBytes)), decipher.final()]);
  return opened.toString();
}
