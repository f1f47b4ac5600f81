/** A mapping of a server that makes jobs of several files, each of which is fetched by itself. */
export const fileJobs = {
  url: '{base}/jobs/{$.id}',
  every: '20ms',
  done: '$.files',
  output: '$.files',
  files: '$[*]',
  cancel: { method: 'DELETE', url: '{base}/jobs/{$.id}' },
};
