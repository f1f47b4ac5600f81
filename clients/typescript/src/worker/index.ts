export type { LogLevel } from './event-sender.js';
export { Fail, Retry, Stopped, type StopReason, TransferError } from './failures.js';
export { serve } from './serve.js';
export type { Handler, Run, ServeOptions } from './types.js';
