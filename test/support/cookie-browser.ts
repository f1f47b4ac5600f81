/** As much of a browser as a sign-in by redirects needs: cookies per origin, and forms. */
export class CookieBrowser {
  /** All cookies that were set, by origin. */
  readonly cookies = new Map<string, Map<string, string>>();

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url);
    const jar = this.jar(origin);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), ...(cookie !== '' && { cookie }) };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
      if (value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(set)) jar.delete(name!);
      else jar.set(name!, value!);
    }
    return response;
  }

  /** Follows redirects until `isThere`. The last one is not followed. */
  async follow(
    url: string,
    isThere: (url: string) => boolean,
    init?: RequestInit,
  ): Promise<string | Response> {
    const response = await this.fetch(url, init);
    const location = response.headers.get('location');
    if (location === null) return response;
    const next = new URL(location, url).href;
    return isThere(next) ? next : this.follow(next, isThere);
  }

  jar(origin: string): Map<string, string> {
    let jar = this.cookies.get(origin);
    if (jar === undefined) this.cookies.set(origin, (jar = new Map()));
    return jar;
  }
}

/** Signs in on the pages of a test's provider. Returns the URL to which the provider sends the browser. */
export async function passProvider(browser: CookieBrowser, url: string, login: string): Promise<string> {
  const { origin } = new URL(url);
  let answer = await browser.follow(url, (next) => new URL(next).origin !== origin);
  while (typeof answer !== 'string') {
    const page = await answer.text();
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1];
    if (action === undefined || prompt === undefined) throw new Error(`The provider shows no form:\n${page}`);
    const body = new URLSearchParams({ prompt, ...(prompt === 'login' && { login, password: 'any' }) });
    const init = { method: 'POST', body };
    answer = await browser.follow(
      new URL(action, origin).href,
      (next) => new URL(next).origin !== origin,
      init,
    );
  }
  return answer;
}
