import { readdirSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { descriptorLimit } from '../internals/descriptors.js';
import { RepeatedLines } from '../tools/repeated-lines.js';

const everyMs = 2_000;
/** From this part of the limit on it is logged, because the database and files need some of the rest. */
const highPart = 0.95;
const folder = '/proc/self/fd';

/**
 * Logs, once a minute, that this process is at its limit of open files. Node does not report it: it closes the
 * connections that it cannot take, unanswered. Only on Linux.
 */
@Injectable()
export class DescriptorWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly log = new Logger('Descriptors');
  private readonly lines = new RepeatedLines();
  private limit = descriptorLimit();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly adapter: HttpAdapterHost) {}

  onApplicationBootstrap(): void {
    const server = this.adapter.httpAdapter.getHttpServer() as Server;
    // A connection could not be accepted. Without a listener this would end the process.
    server.on('error', (error: NodeJS.ErrnoException) => {
      // The start reports a port that cannot be used.
      if (!server.listening) return;
      this.lines.add('accept', (times) =>
        this.log.error({ times, code: error.code }, 'connections cannot be accepted'),
      );
    });
    if (this.limit !== Infinity) this.timer = setInterval(() => this.look(), everyMs).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.lines.flush();
  }

  private look(): void {
    // prlimit may change it while the process runs.
    const known = descriptorLimit(0);
    if (known > 0) this.limit = known;
    const { limit } = this;
    // Counting takes a descriptor. If none is left, all are open.
    const open = openDescriptors() ?? limit;
    if (known > 0 && open < limit * highPart) return;
    this.lines.add('open', (times) =>
      this.log.error(
        { times, open, limit },
        'this process is at its limit of open files (ulimit -n): new connections are closed unanswered, and files cannot be opened',
      ),
    );
  }
}

/** undefined: no descriptor is left to count with. */
function openDescriptors(): number | undefined {
  try {
    // Linux before 6.2 does not report the number as the size.
    return statSync(folder).size || readdirSync(folder).length;
  } catch {
    return undefined;
  }
}
