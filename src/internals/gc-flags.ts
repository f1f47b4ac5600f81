// Relies on a V8 internal: an undocumented flag of its garbage collector.
import { setFlagsFromString } from 'node:v8';

export const externalMemoryFlag = '--external-memory-accounted-in-global-limit';
export const hasExternalMemoryFlag = Number.parseInt(process.versions.v8) >= 13;

/**
 * V8 starts a full collection for every 64 MiB of buffers, however few are alive. With large inputs that is several per
 * second. With this flag (V8 13, Node 24), buffers count like objects of the heap, against a limit that grows with the
 * live data.
 */
export function accountExternalMemory(): void {
  if (hasExternalMemoryFlag) setFlagsFromString(externalMemoryFlag);
}
