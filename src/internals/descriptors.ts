// Relies on an inside of Linux: Node has no call for the limit of open files.
import { readFileSync } from 'node:fs';

/** How many files this process may have open; infinite where that is not known. */
export function descriptorLimit(): number {
  try {
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined || soft === 'unlimited' ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
