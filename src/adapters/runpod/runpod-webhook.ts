import type { AdapterDelivery } from '../../webhooks/webhook-bodies.js';
import { jobText, toJob } from './job.js';

/** Returns the body of a webhook: the job, as its status call answers. */
export const runpodWebhookBody = ({ row, payloadError }: AdapterDelivery): string =>
  jobText({ ...toJob(row), output_error: row.error === null ? payloadError : undefined }, row.output);
