/**
 * Returns the status of an error for clients that wait after a 429 but not after a 403. RATE_LIMIT_STATUS has no effect
 * on it.
 */
export const clientStatus = ({ code, status }: { code: string; status: number }): number =>
  code === 'rate_limited' ? 429 : status;
