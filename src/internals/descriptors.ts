// Relies on an inside of Linux: Node has no call for the limit of open files.
import { readFileSync } from 'node:fs';

/** How many files this process may have open; `unknown` where that cannot be read, as where no descriptor is left. */
export function descriptorLimit(unknown = Infinity): number {
  try {
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined || soft === 'unlimited' ? Infinity : Number(soft);
  } catch {
    return unknown;
  }
}
