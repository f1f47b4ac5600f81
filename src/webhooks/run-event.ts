/** The events of runs. Their deliveries are written after the commit of what they are about. */
export const runEvents = {
  started: 'request.started',
  progress: 'request.progress',
  output: 'request.output',
  logs: 'request.logs',
} as const;
export type RunEvent = (typeof runEvents)[keyof typeof runEvents];

/** What is known of an event only when it happens. */
export interface RunContent {
  /** In UTC with milliseconds. */
  at: string;
  /** Added when it is written. */
  attempt?: number;
  progress?: { value: number; message: string | null };
}
