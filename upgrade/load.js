import { setTimeout as delay } from 'node:timers/promises';

/** Calls that are made at once, each so often a second. */
const rates = { http: 10, worker: 7, cancelled: 2, followed: 1, again: 1, status: 5, list: 1 };
const patienceMs = 30_000;
const resumeMs = 200;
/** A run that waits for its cancel. */
const longMs = 60_000;

/** Callers through the proxy. They note what was accepted, and every call that was not answered as it must be. */
export class Load {
  /** What was accepted: the id, and how the request must end. */
  accepted = new Map();
  failures = [];
  counts = {};
  /** Streams that broke and were resumed. */
  resumed = 0;
  /** The ends of streams: how often a followed request was shown as completed. */
  ends = new Map();
  repeated = new Set();

  constructor(url, key, webhookUrl) {
    Object.assign(this, { url, key, webhookUrl });
    this.n = 0;
    this.open = new Set();
    this.timers = [];
  }

  get submissions() {
    return this.accepted.size;
  }

  start() {
    const calls = {
      http: () => this.submit('up/http', 50 + Math.random() * 400),
      worker: () => this.submit('up/worker', 50 + Math.random() * 200),
      cancelled: () => this.submitAndCancel(),
      followed: () => this.submitAndFollow(),
      again: () => this.submitAgain(),
      status: () => this.status(),
      list: () => this.call('list', 'GET', '/v1/queue/requests?limit=20', [200]),
    };
    for (const [name, call] of Object.entries(calls))
      this.timers.push(setInterval(() => this.track(call()), 1_000 / rates[name]));
  }

  track(work) {
    const tracked = work
      .catch((error) =>
        this.failures.push({ at: new Date().toISOString(), error: String(error.cause ?? error) }),
      )
      .finally(() => this.open.delete(tracked));
    this.open.add(tracked);
  }

  async stop() {
    for (const timer of this.timers) clearInterval(timer);
    while (this.open.size > 0) await Promise.all(this.open);
  }

  /** Makes a call, which must be answered with one of the statuses `expected`. Returns the body, or undefined after a failure. */
  async call(kind, method, path, expected, { body, headers = {} } = {}) {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    const from = performance.now();
    try {
      const answer = await fetch(this.url + path, {
        method,
        headers: { authorization: `Key ${this.key}`, ...headers },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout(patienceMs),
      });
      const text = await answer.text();
      if (expected.includes(answer.status)) return JSON.parse(text);
      this.fail(kind, from, `${answer.status} ${text.slice(0, 300)}`);
    } catch (error) {
      this.fail(kind, from, String(error.cause ?? error));
    }
    return undefined;
  }

  fail(kind, from, what) {
    this.failures.push({
      at: new Date().toISOString(),
      kind,
      afterMs: Math.round(performance.now() - from),
      what,
    });
  }

  async submit(model, ms, { kind = 'submit', outcome = 'succeeded', headers } = {}) {
    const n = ++this.n;
    const hook = encodeURIComponent(this.webhookUrl);
    const body = { n, ms: Math.round(ms) };
    const answer = await this.call(kind, 'POST', `/v1/queue/${model}?webhook=${hook}`, [202], {
      body,
      headers,
    });
    if (answer === undefined) return undefined;
    this.accepted.set(answer.request_id, { n, outcome });
    return answer.request_id;
  }

  async submitAndCancel() {
    const id = await this.submit('up/http', longMs, { outcome: 'cancelled' });
    if (id === undefined) return;
    await delay(Math.random() * 1_000);
    await this.call('cancel', 'PUT', `/v1/queue/requests/${id}/cancel`, [200, 202]);
  }

  /** The same submission again, on whichever release: it is always the same request. */
  async submitAgain() {
    const headers = { 'idempotency-key': 'the-same-over-all-releases' };
    const hook = encodeURIComponent(this.webhookUrl);
    const body = { n: 0, ms: 100 };
    const path = `/v1/queue/up/http?webhook=${hook}`;
    const answer = await this.call('submit again', 'POST', path, [202], { body, headers });
    if (answer === undefined) return;
    this.repeated.add(answer.request_id);
    this.accepted.set(answer.request_id, { n: 0, outcome: 'succeeded' });
  }

  async status() {
    const ids = [...this.accepted.keys()];
    if (ids.length === 0) return;
    const id = ids[Math.floor(Math.random() * ids.length)];
    const answer = await this.call('status', 'GET', `/v1/queue/requests/${id}/status`, [200]);
    if (answer !== undefined && answer.request_id !== id)
      this.fail('status', performance.now(), `of another than ${id}`);
  }

  /** Follows a run that is longer than a node takes to stop, until it has completed. */
  async submitAndFollow() {
    const id = await this.submit('up/http', 4_000);
    if (id === undefined) return;
    this.ends.set(id, 0);
    let last;
    while (this.ends.get(id) === 0) {
      const from = performance.now();
      this.counts.stream = (this.counts.stream ?? 0) + 1;
      const answer = await fetch(`${this.url}/v1/queue/requests/${id}/status/stream`, {
        headers: { authorization: `Key ${this.key}`, ...(last !== undefined && { 'last-event-id': last }) },
      });
      if (answer.status !== 200) {
        this.fail('stream', from, `${answer.status} ${(await answer.text()).slice(0, 300)}`);
        return;
      }
      try {
        for await (const event of eventsOf(answer.body)) {
          last = event.id ?? last;
          if (event.data !== undefined && JSON.parse(event.data).status === 'COMPLETED')
            this.ends.set(id, this.ends.get(id) + 1);
        }
      } catch {
        // A node that stops closes its streams.
      }
      if (this.ends.get(id) > 0) return;
      this.resumed++;
      await delay(resumeMs);
    }
  }
}

/** Yields `id` and `data` of each server-sent event. */
async function* eventsOf(body) {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop();
    for (const block of blocks) {
      const lines = block.split('\n').map((line) => /^(\w*): ?(.*)$/.exec(line) ?? []);
      yield Object.fromEntries(lines.map(([, name, value]) => [name, value]));
    }
  }
}
