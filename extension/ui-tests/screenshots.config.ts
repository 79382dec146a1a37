import { defineConfig } from '@playwright/test';
import { base } from './chromium';

/** Writes the pictures of the documentation. */
export default defineConfig({ ...base, testDir: 'pictures', timeout: 240_000 });
