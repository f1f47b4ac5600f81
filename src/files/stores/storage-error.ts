import { DomainError } from '../../errors/domain-error.js';

/** Why a file cannot be stored or read now. */
export type StorageFault = 'full' | 'reserve' | 'no_descriptors' | 'unusable' | 'away';

/**
 * The place of the files does not take or give bytes now. Only code that reads and writes them creates this error. No
 * other error, and no error of the uploading client, is taken for it.
 */
export class StorageUnavailable extends DomainError {
  constructor(
    readonly fault: StorageFault,
    detail: string,
    cause?: unknown,
  ) {
    const isFull = fault === 'full' || fault === 'reserve';
    super(isFull ? 'storage_full' : 'unavailable', detail, {
      retryAfterSeconds: isFull ? 30 : 5,
      ...(cause !== undefined && { cause }),
    });
    this.name = 'StorageUnavailable';
  }
}

const fullCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const descriptorCodes = new Set(['EMFILE', 'ENFILE']);

/** Turns an error of a file system call into one for the client. Other errors stay as they are. */
export function storageError(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined || error instanceof DomainError) return error;
  if (fullCodes.has(code)) {
    const detail =
      'The disk of the service is full, so nothing of this file was kept. The operator has to make room; then send it again.';
    return new StorageUnavailable('full', detail, error);
  }
  if (descriptorCodes.has(code)) {
    const detail = 'This node is at its limit of open files (ulimit -n). Try again in a moment.';
    return new StorageUnavailable('no_descriptors', detail, error);
  }
  const detail = `The folder of files cannot be used (${code}). The operator sets it with DATA_DIR.`;
  return new StorageUnavailable('unusable', detail, error);
}

/** Runs `work`, which makes only file system calls. */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageError(error);
  }
}
