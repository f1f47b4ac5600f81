import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Starts the system's Chromium. Nothing is downloaded, and it calls only the tests' own servers. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = places.find((place) => existsSync(place));
  if (executablePath === undefined) {
    throw new Error(
      'The browser tests need Chromium, which is not installed. On Debian and Ubuntu: apt-get install chromium',
    );
  }
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
