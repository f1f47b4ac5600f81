// Relies on an inside of V8: a flag of its garbage collector that no interface promises.
import { setFlagsFromString } from 'node:v8';

export const externalMemoryFlag = '--external-memory-accounted-in-global-limit';
export const hasExternalMemoryFlag = Number.parseInt(process.versions.v8) >= 13;

/**
 * V8 begins a full collection for every 64 MiB of buffers, however few are alive: several a second with large inputs.
 * With this flag (V8 13, Node 24) they count as the heap's own objects do, against a limit that grows with what is alive.
 */
export function accountExternalMemory(): void {
  if (hasExternalMemoryFlag) setFlagsFromString(externalMemoryFlag);
}
