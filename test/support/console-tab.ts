import axe from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { patienceMs, until } from './until.js';

export const looks = [
  ['a desk in light', { width: 1440, height: 900 }, 'light'],
  ['a phone in dark', { width: 390, height: 844 }, 'dark'],
  ['a desk in dark', { width: 1440, height: 900 }, 'dark'],
  ['a phone in light', { width: 390, height: 844 }, 'light'],
] as const;

/** A tab of the console, with everything that the browser's developer console would show. */
export class ConsoleTab {
  /** Errors and warnings, including violations of the content security policy. */
  readonly complaints: string[] = [];
  readonly asked: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
    /** The service's URL as the browser sees it. */
    readonly url: string,
  ) {
    page.setDefaultTimeout(patienceMs);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()))
        this.complaints.push(`${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('request', (request) => this.asked.push(request.url()));
  }

  static async open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<ConsoleTab> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    return new ConsoleTab(await context.newPage(), context, url);
  }

  /** Opens another tab of the same browser, which is signed in as this one is. */
  async another(): Promise<ConsoleTab> {
    return new ConsoleTab(await this.context.newPage(), this.context, this.url);
  }

  async signIn(key: string): Promise<this> {
    await this.page.goto(`${this.url}/console`);
    await this.page.getByLabel('API key').fill(key);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.page.getByRole('navigation', { name: 'Views' }).waitFor({ state: 'attached' });
    return this;
  }

  /** Opens a view and waits until it has loaded its data. */
  async show(view: string): Promise<void> {
    await this.page.goto(`${this.url}/console/${view}`);
    await this.settled();
  }

  async settled(): Promise<void> {
    await this.page.locator('main h1').first().waitFor();
    await until(async () => (await this.page.locator('.bones').count()) === 0);
  }

  async text(): Promise<string> {
    return (await this.page.locator('main').innerText()).replaceAll('\u00a0', ' ');
  }

  async click(name: string | RegExp, within = 'main'): Promise<void> {
    await this.page.locator(within).getByRole('button', { name, exact: true }).first().click();
  }

  /** Returns the violations that axe finds, and by how much the content is wider than the page. */
  async findings(): Promise<string[]> {
    if (!(await this.page.evaluate(`'axe' in window`))) await this.page.evaluate(axe.source);
    const found = await this.page.evaluate<string[]>(
      `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
         violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(' | ')))`,
    );
    const over = await this.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    return over > 0 ? [...found, `${over} px wider than the page`] : found;
  }

  /** Returns the requests to other hosts than the service. */
  strangers(): string[] {
    return this.asked.filter((url) => !url.startsWith(`${this.url}/`) && !/^(data|blob):/.test(url));
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
