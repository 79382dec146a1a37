import * as path from 'path';
import type { Reporter, Suite, TestCase, TestError, TestResult } from '@playwright/test/reporter';

/**
 * Tells what is played and what came of it as it happens, a line of JSON each, for a program that
 * started Playwright.
 */
export default class ProgressReporter implements Reporter {
  onBegin(_config: unknown, suite: Suite): void {
    const tests: { [spec: string]: number } = {};
    for (const test of suite.allTests()) {
      tests[spec(test)] = (tests[spec(test)] ?? 0) + 1;
    }
    tell({ tests });
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    const printed = [...result.stdout, ...result.stderr].map(String);
    const errors = result.errors.map(inWords);
    tell({
      spec: spec(test),
      title: test.title,
      ok: result.status === 'passed',
      seconds: result.duration / 1000,
      said: [...errors, ...printed].join('\n')
    });
  }

  onError(error: TestError): void {
    tell({ error: inWords(error) });
  }

  printsToStdio(): boolean {
    return true;
  }
}

function spec(test: TestCase): string {
  return path.basename(test.location.file, '.spec.ts');
}

function inWords(error: TestError): string {
  const text = [error.stack ?? error.message ?? error.value, error.snippet].join('\n');
  // Colours are for terminals.
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[\d+m/g, '');
}

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
