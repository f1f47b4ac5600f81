/** Returns the status of an error for clients that wait after a 429 and after no 403, whatever RATE_LIMIT_STATUS says. */
export const clientStatus = ({ code, status }: { code: string; status: number }): number =>
  code === 'rate_limited' ? 429 : status;
