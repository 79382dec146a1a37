import { defineConfig } from '@playwright/test';
import { base } from './chromium';

export default defineConfig({ ...base, testDir: 'specs' });
