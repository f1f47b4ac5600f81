import type { IncomingMessage } from 'node:http';
import { methodLabel, routeLabel } from './route-label.js';

const call = (properties: object): IncomingMessage => properties as IncomingMessage;

it.each([
  ['/v1/queue/requests/:request_id/status', '/v1/queue/requests/{request_id}/status'],
  ['/v1/queue/*model_id', '/v1/queue/{model_id}'],
  ['/v1/models/*model_id/openapi.json', '/v1/models/{model_id}/openapi.json'],
  ['/health/live', '/health/live'],
])('writes the route %s as %s', (path, label) => {
  expect(routeLabel(call({ route: { path } }))).toBe(label);
  expect(routeLabel(call({}), path)).toBe(label);
});

it('labels a path without a route as none, except the pages under /docs', () => {
  expect(routeLabel(call({ path: '/secret/of/caller' }))).toBe('none');
  expect(routeLabel(call({ path: '/docs/swagger-ui.js' }))).toBe('/docs');
  expect(routeLabel(call({ path: '/docsecret' }))).toBe('none');
});

it('labels an unusual method as _OTHER', () => {
  expect(methodLabel(call({ method: 'PATCH' }))).toBe('PATCH');
  expect(methodLabel(call({ method: 'MKCALENDAR' }))).toBe('_OTHER');
});
