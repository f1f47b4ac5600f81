import http, { type IncomingMessage, type RequestOptions, type ServerResponse } from 'node:http';
import S3rver from '@20minutes/s3rver';

export interface TestS3 {
  url: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Forwards a call unchanged. */
  forward(options: RequestOptions, request: IncomingMessage, response: ServerResponse): void;
  stop(): Promise<void>;
}

/** Starts an S3 server with one bucket. It checks signatures. */
export async function startS3(directory: string, bucket: string): Promise<TestS3> {
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();
  const forward: TestS3['forward'] = (options, request, response) => {
    const call = http.request({ ...options, host: '127.0.0.1', port }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    call.on('error', () => response.destroy());
    request.pipe(call);
  };
  return {
    url: `http://127.0.0.1:${port}`,
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    forward,
    stop: () => server.close(),
  };
}
