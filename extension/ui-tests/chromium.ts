import * as fs from 'fs';
import * as path from 'path';
import type { PlaywrightTestConfig } from '@playwright/test';

/** The system's Chromium: Playwright's own builds are not downloaded. */
export function findChromium(): string {
  const given = process.env.CHROMIUM_PATH;
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const places = folders.flatMap(folder =>
    ['chromium', 'chromium-browser'].map(name => path.join(folder, name))
  );
  const found = given ?? places.find(place => fs.existsSync(place));
  if (!found) {
    throw new Error('There is no Chromium: apt-get install chromium, or set CHROMIUM_PATH.');
  }
  return found;
}

/** What all of our Playwright runs have in common. */
export const base: PlaywrightTestConfig = {
  workers: 1,
  fullyParallel: false,
  retries: 0,
  timeout: 300_000,
  // Machines that test are busy: what is late is not wrong.
  expect: { timeout: 60_000 },
  reporter: [['list']],
  outputDir: 'test-results',
  use: {
    baseURL: process.env.TARGET_URL,
    browserName: 'chromium',
    viewport: { width: 1280, height: 800 },
    // What moves is drawn by the processor, in a browser without a graphics card.
    contextOptions: { reducedMotion: 'reduce' },
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
    actionTimeout: 60_000,
    navigationTimeout: 60_000,
    video: 'off',
    trace: 'off',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: findChromium(),
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic']
    }
  }
};
