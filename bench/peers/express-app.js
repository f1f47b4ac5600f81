import express from 'express';

/**
 * The routes that every peer has, and nothing else.
 * @param {object} routes
 * @param {(input: object) => Promise<string>} routes.submit resolves with the id once it is durable
 * @param {(id: string) => Promise<object | undefined>} [routes.status]
 * @param {import('express').RequestHandler} [routes.admit] comes before all others
 */
export function listen({ submit, status, admit }) {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  if (admit !== undefined) app.use(admit);
  app.post('/submit', express.json({ limit: '10mb' }), async (request, response) => {
    response.status(202).json({ request_id: await submit(request.body) });
  });
  app.get('/status/:id', async (request, response) => {
    const found = await status?.(request.params.id);
    if (found === undefined) response.status(404).end();
    else response.json(found);
  });
  const server = app.listen(0, '127.0.0.1', () => {
    process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`);
  });
  process.once('SIGTERM', () => process.exit(0));
}
