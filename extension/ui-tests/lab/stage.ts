import * as fs from 'fs';
import * as path from 'path';
import type { Explorations, OpenExploration, Step } from '../../src/protocol';
import type { ILines } from './lines';

/** A cell of a notebook file. */
export interface ICell {
  id: string;
  cell_type: 'code' | 'markdown';
  source: string;
  outputs?: { text?: string; data?: { [type: string]: string } }[];
  metadata: { exploracoder?: { role?: string; subtask?: string } };
}

interface INotebookFile {
  cells: ICell[];
  metadata: { exploracoder: OpenExploration['exploration'] };
}

/** What JupyterLab runs on: server, files, kernels, the model, and the doors between them. */
export class Stage {
  constructor(title: string) {
    const name = title.replace(/[^a-z0-9]+/gi, '-').slice(0, 40);
    this.folder = `${name}-${Date.now().toString(36)}`;
    fs.mkdirSync(path.join(this.root, this.folder));
  }

  /** The test's folder, relative to the server's root. */
  readonly folder: string;
  readonly root = variable('STAGE_ROOT');
  readonly token = variable('STAGE_TOKEN');
  readonly url = variable('TARGET_URL');

  /** Let the model say these lines from now on. */
  async say(lines: ILines): Promise<void> {
    await this._control('POST', '/model', lines);
  }

  /** The kinds of questions that the model was asked since it was given its lines. */
  async asked(): Promise<string[]> {
    const told = await this._control('GET', '/model');
    return (told as { asked: string[] }).asked;
  }

  /** Open or shut the door to the server or to the model. */
  async door(name: 'jupyter' | 'model', isOpen: boolean): Promise<void> {
    await this._control('POST', '/doors', { [name]: isOpen });
  }

  /** Start or end the server's process. */
  async jupyter(what: 'start' | 'stop' | 'kill'): Promise<void> {
    await this._control('POST', '/jupyter', { do: what });
  }

  /** Kill a kernel as the system does when memory is short. */
  async killKernel(id: string): Promise<void> {
    const told = await this._control('POST', '/kernels', { kill: id });
    if ((told as { killed: number }).killed === 0) {
      throw new Error(`No process of kernel ${id} was found.`);
    }
  }

  /** Every door open, the usual lines, no exploration and no kernel running. */
  async clear(): Promise<void> {
    await this.door('jupyter', true);
    await this.door('model', true);
    await this.say({});
    for (const one of (await this.explorations()).explorations) {
      if (one.is_open) {
        await this.api('DELETE', `explorations/${one.id}`);
      }
    }
    const sessions = (await this._jupyter('GET', 'api/sessions')) as {
      id: string;
    }[];
    for (const session of sessions) {
      await this._jupyter('DELETE', `api/sessions/${session.id}`);
    }
  }

  /** What was set in the page for the extension is as at first. */
  async forgetSettings(): Promise<void> {
    await this._jupyter('PUT', 'lab/api/settings/exploracoder:plugin', { raw: '{}' });
  }

  /** Where a file of the test's folder lies for the server. */
  path(name: string): string {
    return `${this.folder}/${name}`;
  }

  write(name: string, text: string): void {
    const file = path.join(this.root, this.folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }

  /** Write a notebook of the user's, with code cells. */
  writeNotebook(name: string, ...cells: string[]): void {
    this.writeNotebookFor({ name: 'tea', display_name: 'Tea' }, name, ...cells);
  }

  /** Write a notebook for a kernel of the stage. */
  writeNotebookFor(
    kernel: { name: string; display_name: string },
    name: string,
    ...cells: string[]
  ): void {
    const made = cells.map((source, index) => ({
      cell_type: 'code',
      id: `own-${index}`,
      metadata: {},
      source,
      outputs: [],
      execution_count: null
    }));
    const kernelspec = { ...kernel, language: 'python' };
    this.write(
      name,
      JSON.stringify({
        cells: made,
        metadata: { kernelspec },
        nbformat: 4,
        nbformat_minor: 5
      })
    );
  }

  /** A notebook's cells as they are on disk; `file` is relative to the server's root. */
  cells(file: string): ICell[] {
    const { cells } = this._read(file);
    return cells.map(cell => ({ ...cell, source: joined(cell.source) }));
  }

  /** The exploration in a notebook's metadata. */
  saved(file: string): OpenExploration['exploration'] {
    return this._read(file).metadata.exploracoder;
  }

  async explorations(): Promise<Explorations> {
    return (await this.api('GET', 'explorations')) as Explorations;
  }

  async exploration(id: string): Promise<OpenExploration> {
    return (await this.api('GET', `explorations/${id}`)) as OpenExploration;
  }

  /** The only exploration that is open. */
  async theExploration(): Promise<OpenExploration> {
    const { explorations } = await this.explorations();
    const open = explorations.filter(one => one.is_open);
    if (open.length !== 1) {
      throw new Error(`${open.length} explorations are open, not one.`);
    }
    return this.exploration(open[0].id);
  }

  /** The states of the only exploration's steps; none while it is being opened. */
  async states(): Promise<Step['status'][]> {
    const { explorations } = await this.explorations();
    if (!explorations.some(one => one.is_open)) {
      return [];
    }
    const { exploration } = await this.theExploration();
    return exploration.steps.map(step => step.status);
  }

  /** The memory of the server's process, in MB. */
  async residentMb(): Promise<number> {
    const { resident_mb } = (await this._control('GET', '/jupyter')) as { resident_mb: number };
    return resident_mb;
  }

  /** Our own part of the server. */
  async api(method: string, what: string, body?: unknown): Promise<unknown> {
    return this._jupyter(method, `exploracoder/api/${what}`, body);
  }

  /** JupyterLab's server writes files in place: one that is being written is read again. */
  private _read(file: string): INotebookFile {
    const place = path.join(this.root, file);
    for (let tries = 0; ; tries++) {
      try {
        return JSON.parse(fs.readFileSync(place, 'utf-8')) as INotebookFile;
      } catch (error) {
        if (!(error instanceof SyntaxError) || tries === 20) {
          throw error;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
      }
    }
  }

  private async _jupyter(method: string, what: string, body?: unknown): Promise<unknown> {
    return answer(`${this.url}/${what}`, method, body, {
      Authorization: `token ${this.token}`
    });
  }

  private async _control(method: string, what: string, body?: unknown): Promise<unknown> {
    return answer(variable('STAGE_URL') + what, method, body, {});
  }
}

function variable(name: string): string {
  const value = process.env[name];
  if (!value) {
    throw new Error(`${name} is not set: start the tests with "npm test".`);
  }
  return value;
}

/** Notebook files have a cell's source as one text or as its lines. */
function joined(source: string | string[]): string {
  return typeof source === 'string' ? source : source.join('');
}

async function answer(
  url: string,
  method: string,
  body: unknown,
  headers: { [name: string]: string }
): Promise<unknown> {
  const said = await fetch(url, {
    method,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body)
  });
  const text = await said.text();
  if (!said.ok) {
    throw new Error(`${method} ${url}: ${said.status} ${text.slice(0, 500)}`);
  }
  return text ? JSON.parse(text) : null;
}
