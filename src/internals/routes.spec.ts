import express from 'express';
import { routesTo } from './routes.js';

const app = express();
app.use((_request, _response, next) => next());
app.get('/files/:name', () => undefined);
app.post('/files/*path', () => undefined);
app.put('/other', () => undefined);

it.each([
  [
    '/files/one',
    [
      { pattern: '/files/:name', methods: ['GET'] },
      { pattern: '/files/*path', methods: ['POST'] },
    ],
  ],
  ['/files/one/two', [{ pattern: '/files/*path', methods: ['POST'] }]],
  ['/other', [{ pattern: '/other', methods: ['PUT'] }]],
  ['/files/%', []],
  ['/nowhere', []],
])('the routes to %s are found', (path, found) => {
  expect(routesTo(app, path)).toEqual(found);
});
