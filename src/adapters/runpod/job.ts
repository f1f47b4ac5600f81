import type { RequestRow } from '../../queue/reads/status-row.js';
import { failureMessage } from '../failure-message.js';

type JobStatus = 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TIMED_OUT';

/** A job as Runpod's clients read it, without its output. Times are in milliseconds. */
export interface Job {
  id: string;
  status: JobStatus;
  delayTime?: number;
  executionTime?: number;
  error?: string;
}

/** The errors of requests that exceeded the time limit of their wait or of their run. */
const timeouts: readonly string[] = ['expired', 'timed_out'];

export function toJob({ id, state, outcome, error, queueMs, inferenceMs }: RequestRow): Job {
  if (state === 'IN_QUEUE') return { id, status: state };
  const delayTime = Math.round(queueMs ?? 0);
  if (state === 'IN_PROGRESS') return { id, status: state, delayTime };
  const times = { delayTime, ...(inferenceMs !== null && { executionTime: Math.round(inferenceMs) }) };
  if (error === null) return { id, status: 'COMPLETED', ...times };
  const status =
    outcome === 'cancelled' ? 'CANCELLED' : timeouts.includes(error.code) ? 'TIMED_OUT' : 'FAILED';
  return { id, status, ...times, error: failureMessage(error) };
}

/** `output`: JSON text, inserted unchanged. null: there is none. */
export function jobText(job: object, output: string | null): string {
  const text = JSON.stringify(job);
  return output === null ? text : `${text.slice(0, -1)},"output":${output}}`;
}
