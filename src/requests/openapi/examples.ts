import { exampleId as id } from '../../http/openapi/responses.js';
import { modelDetails } from '../../http/openapi/problem.dto.js';

/* The objects that the API description shows; they tell one story. */
const responseUrl = `http://127.0.0.1:3000/v1/queue/requests/${id}`;

const common = {
  request_id: id,
  response_url: responseUrl,
  status_url: `${responseUrl}/status`,
  cancel_url: `${responseUrl}/cancel`,
};

export const inQueue = { status: 'IN_QUEUE', ...common, metrics: {}, queue_position: 0 };

export const logEntry = {
  message: 'Drawing line 120 of 512',
  level: 'INFO',
  source: 'runner',
  timestamp: '2026-03-01T12:00:01.250Z',
};

export const inProgress = {
  status: 'IN_PROGRESS',
  ...common,
  metrics: { queue_time: 0.042 },
  logs: [logEntry],
};

export const completed = {
  status: 'COMPLETED',
  ...common,
  metrics: { queue_time: 0.042, inference_time: 2.513 },
  success: true,
  error: null,
};

export const error = {
  code: 'model_error',
  message: 'The model refused the input.',
  timestamp: '2026-03-01T12:00:02.500Z',
  details: modelDetails.example,
};

export const failed = { ...completed, success: false, error };

export const output = {
  image: { url: 'data:image/png;base64,iVBORw0KGgo=', width: 512, height: 512 },
  seed: 7,
};
