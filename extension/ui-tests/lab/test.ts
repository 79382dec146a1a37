import { test as base } from '@jupyterlab/galata';
import { expect, Page } from '@playwright/test';
import { Lab } from './lab';
import { Stage } from './stage';

interface IProps {
  stage: Stage;
  lab: Lab;
}

/**
 * Galata's test on our stage: nothing of JupyterLab is played, since what is saved and which kernels
 * run is what these tests are about. A test fails when JupyterLab shows a dialog at its end or the
 * browser asked whether to leave.
 */
export const test = base.extend<IProps>({
  autoGoto: false,
  mockState: false,
  mockSettings: false,
  mockUser: false,
  kernels: null,
  sessions: null,
  terminals: null,
  tmpPath: '',
  // Galata waits for the launcher, which is not there when a file is opened at once.
  waitForApplication: async ({}, use) => {
    await use(async () => undefined);
  },
  stage: async ({}, use, info) => {
    const stage = new Stage(info.title);
    await stage.clear();
    await use(stage);
    await stage.clear();
  },
  lab: async ({ page, stage }, use, info) => {
    const lab = new Lab(page as unknown as Page, stage);
    await use(lab);
    if (info.status !== info.expectedStatus) {
      console.log([...lab.errors, ...lab.complaints].join('\n'));
      return;
    }
    if (!page.isClosed()) {
      await expect(page.getByRole('dialog')).toHaveCount(0);
    }
    expect(lab.prompts).toEqual([]);
  }
});

export { expect };
