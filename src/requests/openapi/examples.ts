/* The objects that the API description shows; they tell one story. */
const id = '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const responseUrl = `http://127.0.0.1:3000/v1/queue/requests/${id}`;

const common = {
  request_id: id,
  response_url: responseUrl,
  status_url: `${responseUrl}/status`,
  cancel_url: `${responseUrl}/cancel`,
};

export const inQueue = { status: 'IN_QUEUE', ...common, metrics: {}, queue_position: 0 };

export const inProgress = {
  status: 'IN_PROGRESS',
  ...common,
  metrics: { queue_time: 0.042 },
  logs: [
    {
      message: 'Drawing line 120 of 512',
      level: 'INFO',
      source: 'runner',
      timestamp: '2026-03-01T12:00:01.250Z',
    },
  ],
};

export const completed = {
  status: 'COMPLETED',
  ...common,
  metrics: { queue_time: 0.042, inference_time: 2.513 },
  success: true,
  error: null,
};

export const failed = {
  ...completed,
  success: false,
  error: {
    code: 'model_error',
    message: 'The model refused the input.',
    timestamp: '2026-03-01T12:00:02.500Z',
    details: { reason: 'the prompt was refused' },
  },
};

export const output = {
  image: { url: 'data:image/png;base64,iVBORw0KGgo=', width: 512, height: 512 },
  seed: 7,
};
