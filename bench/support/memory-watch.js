import { residentBytesOf } from './cpu.js';

const mib = 1024 ** 2;

/** Measures how much a process grows, from its creation on. */
export class MemoryWatch {
  constructor(pid) {
    const before = residentBytesOf(pid);
    this.mostMiB = 0;
    this.timer = setInterval(() => {
      this.mostMiB = Math.max(this.mostMiB, (residentBytesOf(pid) - before) / mib);
    }, 50);
  }

  stop() {
    clearInterval(this.timer);
  }
}
