import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

export const client = { id: 'nowserving', secret: 'a secret of the client, 32 bytes' };

export async function startProvider(port = 0) {
  const server = createServer();
  await new Promise((done) => server.listen(port, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const groups = new Map();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: ['http://127.0.0.1/callback'],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    scopes: ['openid', 'profile', 'email'],
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'], email: ['email'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, email: `${id}@example.org`, groups: groups.get(id) }),
    }),
    pkce: { required: () => true },
    cookies: { keys: ['of the test'] },
    features: { devInteractions: { enabled: true } },
  });
  // The service gets its port later than we do.
  provider.Client.prototype.redirectUriAllowed = (url) => url.endsWith('/v1/admin/session/oidc/callback');
  server.on('request', provider.callback());
  return {
    issuer,
    server,
    groups,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
