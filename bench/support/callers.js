import { withClient } from './postgres.js';

/**
 * Inserts the keys of many callers by SQL. The database has the SHA-256 of a key's secret.
 * @param {string} databaseUrl
 * @param {number} count
 * @param {number} [series] keys of another series are other keys
 */
export async function insertKeys(databaseUrl, count, series = 0) {
  await withClient(databaseUrl, (client) =>
    client.query(
      `INSERT INTO api_key (id, name, prefix, hash, scopes)
       SELECT gen_random_uuid(), 'caller ' || n, 'bench-call', sha256(convert_to(secret, 'UTF8')),
              ARRAY['submit', 'read', 'cancel']
       FROM generate_series(0, $1::integer - 1) AS n,
            LATERAL (VALUES (format('bench-caller-%s-%s', $2::integer, lpad(n::text, 8, '0')))) AS key (secret)`,
      [count, series],
    ),
  );
}

/**
 * Gives every second request to a key, the first of them to the first key, because a key may read no other key's
 * requests.
 * @param {string} databaseUrl
 * @param {string[]} ids of requests
 */
export async function giveEverySecondToKeys(databaseUrl, ids) {
  await withClient(databaseUrl, async (client) => {
    const { rowCount } = await client.query(
      `UPDATE request
       SET api_key_id = api_key.id
       FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, nth)
       JOIN api_key ON api_key.name = 'caller ' || given.nth / 2
       WHERE request.id = given.id AND given.nth % 2 = 1`,
      [ids],
    );
    if (rowCount !== Math.ceil(ids.length / 2)) throw new Error(`${rowCount} of ${ids.length} were given`);
    await client.query('VACUUM (ANALYZE) request');
  });
}

/**
 * Lua whose calls are those of many callers behind a proxy. Each caller has an address, and mostly a key of its own.
 * The calls are made before the load begins and sent in turn, so that callers are served evenly.
 * @param {object} options
 * @param {number} options.calls different ones, each from an address of its own
 * @param {string} options.key Lua: the key of call `n`; nil: none
 * @param {'GET' | 'POST'} options.method
 * @param {string[]} options.paths call `n` requests the n-th, over and over
 * @param {string} [options.body]
 * @param {number} [options.series] of the keys
 * @param {number} [options.from] the call to begin with
 */
export function callersScript({ calls, key, method, paths, body, series = 0, from = 0 }) {
  const type = body === undefined ? '' : '["Content-Type"] = "application/json",';
  return `
local paths = { ${paths.map((path) => JSON.stringify(path)).join(', ')} }
local requests, turn = {}, ${from}
init = function()
  for n = 0, ${calls - 1} do
    local headers = { ${type}
      ["X-Forwarded-For"] = string.format("198.%d.%d.%d", 18 + n / 65536, n / 256 % 256, n % 256),
      ["X-Forwarded-Host"] = "queue.example.com", ["X-Forwarded-Proto"] = "https" }
    local key = ${key}
    if key then headers["Authorization"] = string.format("Key bench-caller-${series}-%08d", key) end
    requests[n + 1] = wrk.format("${method}", paths[n % #paths + 1], headers, ${body === undefined ? 'nil' : `[==[${body}]==]`})
  end
end
request = function()
  turn = turn % #requests + 1
  return requests[turn]
end`;
}
