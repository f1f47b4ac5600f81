import { DomainError } from '../../errors/domain-error.js';

/** Why a file cannot be stored or read now. */
export type StorageFault = 'full' | 'reserve' | 'no_descriptors' | 'unusable' | 'away';

/**
 * The place of the files does not take or give bytes now. Only what reads and writes them makes these, so that nothing
 * else's error, nor that of who sends the bytes, is taken for one.
 */
export class StorageUnavailable extends DomainError {
  constructor(
    readonly fault: StorageFault,
    detail: string,
    cause?: unknown,
  ) {
    const isFull = fault === 'full' || fault === 'reserve';
    super(isFull ? 'storage_full' : 'unavailable', detail, {
      ...{ retryAfterSeconds: isFull ? 30 : 5 },
      ...(cause !== undefined && { cause }),
    });
    this.name = 'StorageUnavailable';
  }
}

const fullCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const descriptorCodes = new Set(['EMFILE', 'ENFILE']);

/** What a call of the file system failed with, for who uploads or reads; what is no such error stays as it is. */
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
  const detail = `The folder of files cannot be used (${code}). The operator sets it by DATA_DIR.`;
  return new StorageUnavailable('unusable', detail, error);
}

/** Runs calls of the file system alone. */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageError(error);
  }
}
