import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface.js';

export function corsOptions(origins: string[]): CorsOptions {
  return {
    origin: origins.includes('*') ? '*' : origins,
    methods: ['GET', 'HEAD', 'POST', 'PUT'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID', 'X-Request-Id'],
    exposedHeaders: [
      'X-Request-Id',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'Location',
      'Idempotent-Replayed',
    ],
    // Seconds that a browser may keep the answer to a preflight.
    maxAge: 600,
  };
}
