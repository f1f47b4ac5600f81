export type { Priority } from './claimed-run.js';
export type { LogLevel, Usage } from './event-sender.js';
export { Away, Fail, Retry, Stopped, type StopReason, TransferError } from './failures.js';
export { serve } from './serve.js';
export type { Handler, Run, ServeOptions } from './types.js';
