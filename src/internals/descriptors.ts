// Relies on a Linux internal: Node has no call for the limit of open files.
import { readFileSync } from 'node:fs';

/**
 * Returns how many files this process may open. `unknown` if the limit cannot be read, for example when no descriptor
 * is left.
 */
export function descriptorLimit(unknown = Infinity): number {
  try {
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined || soft === 'unlimited' ? Infinity : Number(soft);
  } catch {
    return unknown;
  }
}
