import { createFalClient, type FalClient } from '@fal-ai/client';
import type { TestService } from './index.js';

/** The published client with nothing but its address changed. */
export function falAt(service: TestService, credentials = service.key): FalClient {
  return createFalClient({
    credentials,
    requestMiddleware: (request) => {
      const url = request.url.replace(/^https:\/\/(queue\.fal\.run|rest\.fal\.ai)/, `${service.url}/fal`);
      return Promise.resolve({ ...request, url });
    },
  });
}
