import { type Scope, scopes } from '../../src/auth/caller.js';
import { adapters } from '../../src/config/adapter.js';
import { AdminCalls, fromConsole } from '../support/admin-calls.js';
import { inParallel } from '../support/in-parallel.js';
import { startTestService, type TestService } from '../support/index.js';
import { keyHeader, unknownId } from '../support/queue-calls.js';
import { routesOf } from '../support/routes.js';

/**
 * Callers of a route: anybody, any valid key, a key with the scope, or also a key with another scope or a caller that
 * knows a request's id.
 */
type Rule = 'open' | 'any key' | Scope | `${Scope} or ${Scope | 'id'}`;

/** Every route of the service; a new one needs its line here. */
const rules: Record<string, Rule> = {
  'GET /': 'open',
  'GET /console': 'open',
  'GET /console/*view': 'open',
  'GET /console/assets/:name': 'open',
  'GET /docs': 'open',
  'GET /docs/errors': 'open',
  'GET /docs/page.css': 'open',
  'GET /docs/page.js': 'open',
  'GET /docs/theme.css': 'open',
  'GET /docs/swagger-ui.css': 'open',
  'GET /docs/swagger-ui-bundle.js': 'open',
  'GET /openapi.json': 'open',
  'GET /v1/openapi.json': 'open',
  'GET /health/live': 'open',
  'GET /health/ready': 'open',
  'GET /metrics': 'observe',
  'GET /v1/key': 'any key',
  'GET /v1/models': 'read',
  'GET /v1/models/*model_id': 'read',
  'GET /v1/models/*model_id/openapi.json': 'read',
  'POST /v1/queue/*model_id': 'submit',
  'POST /v1/storage/upload/initiate': 'submit or work',
  'PUT /v1/storage/uploads/:upload_id': 'open',
  'GET /v1/files/:file_id/:name': 'open',
  'GET /v1/queue/requests': 'read',
  'POST /v1/queue/requests': 'submit',
  'POST /v1/queue/requests/status': 'read',
  'POST /v1/queue/requests/cancel': 'cancel',
  'POST /v1/queue/requests/:request_id/retry': 'submit',
  'DELETE /v1/queue/requests/:request_id': 'cancel',
  'GET /v1/queue/requests/:request_id': 'read or id',
  'GET /v1/queue/requests/:request_id/input': 'read or id',
  'GET /v1/queue/requests/:request_id/status': 'read or id',
  'GET /v1/queue/requests/:request_id/status/stream': 'read or id',
  'GET /v1/queue/requests/:request_id/output/stream': 'read or id',
  'PUT /v1/queue/requests/:request_id/cancel': 'cancel or id',
  'GET /v1/queue/requests/:request_id/deliveries': 'read',
  'POST /v1/queue/requests/:request_id/deliveries/:delivery_id/redeliver': 'read',
  'GET /v1/webhook-endpoints': 'submit',
  'POST /v1/webhook-endpoints': 'submit',
  'POST /v1/webhook-endpoints/rotate-secret': 'submit',
  'GET /v1/webhook-endpoints/:endpoint_id': 'submit',
  'PATCH /v1/webhook-endpoints/:endpoint_id': 'submit',
  'DELETE /v1/webhook-endpoints/:endpoint_id': 'submit',
  'POST /v1/batches': 'submit',
  'GET /v1/batches': 'read',
  'GET /v1/batches/:batch_id': 'read',
  'PUT /v1/batches/:batch_id/cancel': 'cancel',
  'DELETE /v1/batches/:batch_id': 'cancel',
  'GET /v1/batches/:batch_id/output': 'read',
  'GET /v1/batches/:batch_id/errors': 'read',
  'POST /v1/worker/claims': 'work',
  'POST /v1/worker/beats': 'work',
  'DELETE /v1/worker/workers/:worker_id': 'work',
  'GET /v1/worker/runs/:request_id/input': 'work',
  'POST /v1/worker/runs/:request_id/files': 'work',
  'POST /v1/worker/runs/:request_id/events': 'work',
  'PUT /v1/worker/runs/:request_id/output': 'work',
  'PUT /v1/worker/runs/:request_id/failure': 'work',
  'POST /v1/worker/runs/:request_id/release': 'work',
  'GET /v1/admin/session': 'open',
  'POST /v1/admin/session': 'open',
  'DELETE /v1/admin/session': 'any key',
  'GET /v1/admin/session/oidc': 'open',
  'GET /v1/admin/session/oidc/callback': 'open',
  'GET /v1/admin/sessions': 'observe',
  'DELETE /v1/admin/sessions/:session_id': 'admin',
  'GET /v1/admin/keys': 'observe',
  'POST /v1/admin/keys': 'admin',
  'GET /v1/admin/keys/:key_id': 'observe',
  'PATCH /v1/admin/keys/:key_id': 'admin',
  'DELETE /v1/admin/keys/:key_id': 'admin',
  'GET /v1/admin/keys/:key_id/webhook-secret': 'admin',
  'POST /v1/admin/keys/:key_id/webhook-secret/rotate': 'admin',
  'GET /v1/admin/audit': 'observe',
  'GET /v1/admin/events': 'observe',
  'GET /v1/admin/nodes': 'observe',
  'GET /v1/admin/queue': 'observe',
  'GET /v1/admin/shares': 'observe',
  'GET /v1/admin/models': 'observe',
  'POST /v1/admin/models/reload': 'admin',
  'GET /v1/admin/models/*model_id': 'observe',
  'PATCH /v1/admin/models/*model_id': 'admin',
  'POST /v1/admin/models/*model_id/probe': 'admin',
  'POST /v1/admin/nodes/:node_id/drain': 'admin',
  'DELETE /v1/admin/nodes/:node_id/drain': 'admin',
  'GET /v1/admin/workers': 'observe',
  'POST /v1/admin/workers/:worker_uid/drain': 'admin',
  'DELETE /v1/admin/workers/:worker_uid/drain': 'admin',
  'POST /v1/admin/workers/:worker_uid/stop': 'admin',
  'GET /v1/admin/requests': 'observe',
  'GET /v1/admin/requests/:request_id': 'observe',
  'GET /v1/admin/requests/:request_id/status': 'observe',
  'GET /v1/admin/requests/:request_id/events': 'observe',
  'GET /v1/admin/requests/:request_id/status/stream': 'observe',
  'GET /v1/admin/requests/:request_id/output/stream': 'payloads',
  'GET /v1/admin/requests/:request_id/log': 'payloads',
  'GET /v1/admin/requests/:request_id/input': 'payloads',
  'GET /v1/admin/requests/:request_id/response': 'payloads',
  'GET /v1/admin/requests/:request_id/picture': 'payloads',
  'POST /v1/admin/requests/:request_id/cancel': 'admin',
  'POST /v1/admin/requests/:request_id/retry': 'admin',
  'POST /v1/admin/requests/:request_id/erase': 'admin',
  'GET /v1/admin/operations': 'observe',
  'POST /v1/admin/operations': 'admin',
  'GET /v1/admin/operations/:operation_id': 'observe',
  'POST /v1/admin/operations/:operation_id/stop': 'admin',
  'GET /v1/admin/batches': 'observe',
  'GET /v1/admin/batches/:batch_id': 'observe',
  'PUT /v1/admin/batches/:batch_id/cancel': 'admin',
  'GET /v1/admin/batches/:batch_id/output': 'payloads',
  'GET /v1/admin/batches/:batch_id/errors': 'payloads',
  'GET /v1/admin/deliveries': 'observe',
  'GET /v1/admin/requests/:request_id/deliveries': 'observe',
  'POST /v1/admin/deliveries/:delivery_id/redeliver': 'admin',
  'GET /v1/admin/webhooks': 'observe',
  'PATCH /v1/admin/webhooks/:webhook_id': 'admin',
  'POST /fal/*model_id': 'submit',
  'POST /fal/run/*model_id': 'submit',
  'POST /fal/run/*model_id/stream': 'submit',
  'POST /fal/storage/upload/initiate': 'submit or work',
  'ALL /fal': 'read or id',
  'GET /fal/*model_id/requests/:request_id': 'read or id',
  'GET /fal/*model_id/requests/:request_id/response': 'read or id',
  'GET /fal/*model_id/requests/:request_id/status': 'read or id',
  'GET /fal/*model_id/requests/:request_id/status/stream': 'read or id',
  'PUT /fal/*model_id/requests/:request_id/cancel': 'cancel or id',
  'POST /openai/v1/chat/completions': 'submit',
  'POST /openai/v1/completions': 'submit',
  'POST /openai/v1/embeddings': 'submit',
  'POST /openai/v1/images/generations': 'submit',
  'POST /openai/v1/audio/speech': 'submit',
  'POST /openai/v1/audio/transcriptions': 'submit',
  'POST /openai/v1/responses': 'submit',
  'GET /openai/v1/responses/:response_id': 'read or id',
  'POST /openai/v1/responses/:response_id/cancel': 'cancel or id',
  'DELETE /openai/v1/responses/:response_id': 'cancel',
  'POST /openai/v1/files': 'submit or work',
  'GET /openai/v1/files': 'read',
  'GET /openai/v1/files/:file_id': 'read',
  'GET /openai/v1/files/:file_id/content': 'read',
  'DELETE /openai/v1/files/:file_id': 'submit or work',
  'POST /openai/v1/batches': 'submit',
  'GET /openai/v1/batches': 'read',
  'GET /openai/v1/batches/:batch_id': 'read',
  'POST /openai/v1/batches/:batch_id/cancel': 'cancel',
  'GET /openai/v1/models': 'read',
  'GET /openai/v1/models/*name': 'read',
  'POST /replicate/v1/predictions': 'submit',
  'POST /replicate/v1/models/*name/predictions': 'submit',
  'GET /replicate/v1/predictions': 'read',
  'GET /replicate/v1/predictions/:request_id': 'read or id',
  'GET /replicate/v1/predictions/:request_id/stream': 'read',
  'POST /replicate/v1/predictions/:request_id/cancel': 'cancel or id',
  'GET /replicate/v1/models/*name': 'read',
  'GET /replicate/v1/models/*name/versions': 'read',
  'GET /replicate/v1/models/*name/versions/*version': 'read',
  'GET /replicate/v1/deployments/*name': 'read',
  'POST /replicate/v1/deployments/*name/predictions': 'submit',
  'POST /replicate/v1/files': 'submit or work',
  'GET /replicate/v1/files': 'read',
  'GET /replicate/v1/files/:file_id': 'read',
  'DELETE /replicate/v1/files/:file_id': 'submit or work',
  'GET /replicate/v1/webhooks/default/secret': 'submit',
  'POST /runpod/v2/*endpoint/run': 'submit',
  'POST /runpod/v2/*endpoint/runsync': 'submit',
  'GET /runpod/v2/*endpoint/status/:request_id': 'read or id',
  'GET /runpod/v2/*endpoint/status-sync/:request_id': 'read or id',
  'GET /runpod/v2/*endpoint/stream/:request_id': 'read or id',
  'POST /runpod/v2/*endpoint/cancel/:request_id': 'cancel or id',
  'POST /runpod/v2/*endpoint/retry/:request_id': 'submit',
  'POST /runpod/v2/*endpoint/purge-queue': 'cancel',
  'GET /runpod/v2/*endpoint/health': 'read',
};

/** The scopes that each scope implies, written independently of the service. */
const brings: Record<Scope, readonly Scope[]> = {
  submit: ['submit'],
  read: ['read'],
  cancel: ['cancel'],
  work: ['work'],
  observe: ['observe'],
  payloads: ['payloads', 'observe'],
  admin: scopes,
};

let service: TestService;
let routes: string[];
const keys = new Map<Scope, string>();
const cookies = new Map<Scope, string>();

beforeAll(async () => {
  service = await startTestService({ limits: 'off', config: { adapters: [...adapters], console: true } });
  const admin = new AdminCalls(service);
  for (const scope of scopes) keys.set(scope, (await admin.newKey({ scopes: [scope] })).key);
  for (const scope of ['observe', 'payloads', 'admin'] as const)
    cookies.set(scope, await admin.cookie(keys.get(scope)));
  routes = routesOf(service);
});
afterAll(() => service.stop());

test('every route of the service has its rule, and every rule a route', () => {
  expect([...new Set(routes)].sort()).toEqual(Object.keys(rules).sort());
});

/** Returns whether the service let the call in. The things that the call names do not exist. */
async function isLetIn(route: string, headers: Record<string, string>): Promise<boolean> {
  const [method, template] = route.split(' ') as [string, string];
  const path = template
    .replace('*model_id', 'demo/text/echo')
    .replace('*view', 'x')
    .replaceAll(/:\w+/g, unknownId);
  const response = await fetch(service.url + path, {
    method: method === 'ALL' ? 'GET' : method,
    headers: { 'content-type': 'application/json', ...headers },
    redirect: 'manual',
    ...(['POST', 'PATCH'].includes(method) && { body: '{}' }),
  });
  await response.body?.cancel();
  return response.status !== 401 && response.status !== 403;
}

function mayCall(rule: Rule, scope: Scope | undefined, isSession: boolean): boolean {
  if (rule === 'open') return true;
  const [needed, other] = rule.split(' or ') as [Scope | 'any key', (Scope | 'id')?];
  // A browser sends the cookie without being asked, so the cookie takes no right from a caller that knows the id.
  if (other === 'id' && (scope === undefined || isSession)) return true;
  if (scope === undefined) return false;
  const isOther = other !== undefined && other !== 'id' && brings[scope].includes(other);
  return needed === 'any key' || isOther || brings[scope].includes(needed);
}

async function expectRoles(
  callers: readonly (readonly [string, Scope | undefined, Record<string, string>])[],
  isSession = false,
): Promise<void> {
  const calls = Object.entries(rules)
    // Last, because it ends the session.
    .sort(([route]) => (route === 'DELETE /v1/admin/session' ? 1 : 0))
    .flatMap(([route, rule]) => callers.map((caller) => ({ route, rule, caller })));
  const wrong: string[] = [];
  await inParallel(16, calls, async ({ route, rule, caller: [name, scope, headers] }) => {
    if (isSession && route === 'DELETE /v1/admin/session') return;
    const [expected, got] = [mayCall(rule, scope, isSession), await isLetIn(route, headers)];
    if (expected !== got) wrong.push(`${route}, ${name}: ${got ? 'let in' : 'refused'}`);
  });
  expect(wrong).toEqual([]);
}

test('every route enforces its access rule, without a key and with a key of each scope', async () => {
  await expectRoles([
    ['no key', undefined, {}],
    ...[...keys].map(([scope, key]) => [scope, scope, keyHeader(key)] as const),
  ]);
});

test('a session has the rights of its key', async () => {
  await expectRoles(
    [...cookies].map(
      ([scope, cookie]) => [`session of ${scope}`, scope, { cookie, ...fromConsole }] as const,
    ),
    true,
  );
});
