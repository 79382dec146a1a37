import { defineConfig } from '@playwright/test';
import { base } from './chromium';

/** Measures; nothing of it is a test. */
export default defineConfig({
  ...base,
  testDir: 'measures',
  testMatch: '*.measure.ts',
  timeout: 900_000
});
