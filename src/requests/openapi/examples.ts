import { exampleId } from '../../http/openapi/responses.js';
import { modelDetails } from '../../http/openapi/problem.dto.js';

/* The objects in the examples of the API description. All belong to one request. */
const url = `http://127.0.0.1:3000/v1/queue/requests/${exampleId}`;
const urls = { response_url: url, status_url: `${url}/status`, cancel_url: `${url}/cancel` };
const common = { request_id: exampleId, ...urls };

const details = {
  model_id: 'demo/image/fractal',
  created_at: '2026-03-01T12:00:00.000Z',
  started_at: null as string | null,
  completed_at: null as string | null,
  attempt: 1,
  tags: [] as string[],
};
const started = { ...details, started_at: '2026-03-01T12:00:00.042Z' };
const ended = { ...started, completed_at: '2026-03-01T12:00:02.555Z' };

export const inQueue = {
  status: 'IN_QUEUE',
  ...common,
  metrics: {},
  queue_position: 0,
  ...details,
  reason: 'busy',
};

export const estimated = {
  start: { from: '2026-03-01T12:00:20.000Z', to: '2026-03-01T12:00:40.000Z' },
  end: { from: '2026-03-01T12:00:22.000Z', to: '2026-03-01T12:00:43.000Z' },
};

export const logEntry = {
  message: 'Drawing line 120 of 512',
  level: 'INFO',
  source: 'runner',
  timestamp: '2026-03-01T12:00:01.250Z',
};

export const progress = { value: 0.4, message: 'Drawing line 205 of 512' as string | null };

export const inProgress = {
  status: 'IN_PROGRESS',
  ...common,
  metrics: { queue_time: 0.042 },
  progress,
  logs: [logEntry],
  ...started,
};

export const completed = {
  status: 'COMPLETED',
  ...common,
  metrics: { queue_time: 0.042, inference_time: 2.513 },
  success: true,
  error: null as object | null,
  ...ended,
};

export const error = {
  code: 'model_error',
  message: 'The model refused the input.',
  timestamp: '2026-03-01T12:00:02.500Z',
  details: modelDetails.example,
};

export const failed = { ...completed, success: false, error };

export const input = { prompt: 'a spiral of light', width: 512, height: 512 };

export const output = {
  image: { url: 'data:image/png;base64,iVBORw0KGgo=', width: 512, height: 512 },
  seed: 7,
};

const { request_id, status, metrics } = completed;
export const withLogs = { request_id, status, response: output, logs: inProgress.logs, metrics };
