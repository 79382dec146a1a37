import { nullTranslator } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';
import { createServer, Server } from 'http';
import * as React from 'react';
import { CONFIGURED, EMBEDDED, ModelChoices } from '../modelchoice';
import { EmbeddedModel, ServerStatus } from '../protocol';
import { ModelMenu } from '../widgets/modelmenu';
import { ITools } from '../widgets/tools';
import { pathOf, reply, requestsTo, until } from './waiting';

const ABSENT: EmbeddedModel = {
  name: 'small',
  license: 'Apache-2.0',
  size_bytes: 1_100_000_000,
  is_there: false,
  is_pulling: false,
  done_bytes: 0,
  note: '',
  error: ''
};
const title = 'Ollama';
const FOUND = {
  title,
  base_url: 'http://127.0.0.1:11434/v1',
  models: ['<img src=x onerror=alert(1)>']
};

function status(values: Partial<ServerStatus> = {}): ServerStatus {
  const told = { model: 'small', model_url: '', model_error: '', is_embedded: true };
  const sandbox = { sandbox: 'strict (bubblewrap)', is_sandboxed: true };
  return { ...told, ...sandbox, embedded: ABSENT, ...values } as ServerStatus;
}

describe('ModelChoices', () => {
  let server: Server;
  let models: ModelChoices;
  let asked: string[];
  let pulls: EmbeddedModel[];

  beforeEach(async () => {
    asked = [];
    pulls = [];
    server = createServer((request, response) => {
      const path = pathOf(request);
      asked.push(`${request.method} ${path}`);
      const pull = pulls.length > 1 ? pulls.shift() : pulls[0];
      const found = { embedded: ABSENT, servers: [FOUND] };
      reply(response, 200, path === 'models' ? found : pull);
    });
    models = new ModelChoices(await requestsTo(server));
  });

  afterEach(async () => {
    models.dispose();
    await new Promise(resolve => server.close(resolve));
  });

  it('knows whether the next exploration has a model', () => {
    expect(models.isMissing).toBe(false);
    models.follow(status());
    expect([models.isMissing, models.named.name]).toEqual([true, 'small']);
    models.choose({ name: 'tea', base_url: 'http://127.0.0.1:1/v1' });
    expect([models.isMissing, models.named.name]).toEqual([false, 'tea']);
    models.follow(status({ is_embedded: false, model: '', model_error: 'Name one.' }));
    models.choose(CONFIGURED);
    expect(models.isMissing).toBe(true);
    models.choose(EMBEDDED);
    expect([models.isMissing, models.isEmbedded]).toEqual([true, true]);
    models.follow(status({ embedded: { ...ABSENT, is_there: true } }));
    expect(models.isMissing).toBe(false);
  });

  it('remembers what was chosen last', async () => {
    const kept = new Map<string, unknown>();
    const store = {
      fetch: async (key: string) => kept.get(key),
      save: async (key: string, value: unknown) => kept.set(key, value)
    };
    await models.restore(store, 'model');
    expect(models.choice).toEqual(CONFIGURED);
    models.choose({ name: 'tea', base_url: 'http://127.0.0.1:1/v1' });
    models.choose(EMBEDDED);
    expect(kept.get('model')).toEqual(EMBEDDED);
    kept.set('model', { name: 'tea', base_url: 'http://127.0.0.1:1/v1' });
    await models.restore(store, 'model');
    expect(models.choice.name).toBe('tea');
  });

  it('takes over what is set elsewhere, but nothing old, and says when it cannot be saved', async () => {
    let saved: unknown = { ...EMBEDDED };
    const store = {
      fetch: async () => saved,
      save: () => Promise.reject(new Error('The settings are read-only.'))
    };
    await models.restore(store, 'model');
    models.choose({ name: 'tea', base_url: 'http://127.0.0.1:1/v1' });
    await until(() => models.error === 'The settings are read-only.');
    await models.restore(store, 'model');
    expect(models.choice.name).toBe('tea');

    saved = { name: 'pot', base_url: 'http://127.0.0.1:1/v1' };
    await models.restore(store, 'model');
    expect(models.choice.name).toBe('pot');
  });

  it('follows a download until the model is there', async () => {
    const going = { ...ABSENT, is_pulling: true };
    pulls = [
      going,
      { ...going, done_bytes: 5e8 },
      { ...ABSENT, is_there: true, done_bytes: 1.1e9 }
    ];
    models.follow(status());
    await models.pull();
    expect(models.isMissing).toBe(true);
    await until(() => !models.isMissing);
    expect(models.hasArrived).toBe(true);
    const polls = asked.length;
    await new Promise(resolve => setTimeout(resolve, 700));
    expect(asked.length).toBe(polls);
    expect(asked[0]).toBe('POST models/pull');
  });

  it('says why the server refused', async () => {
    await new Promise(resolve => server.close(resolve));
    await models.pull();
    expect(models.error).toContain('cannot be reached');
  });

  it('shows what was found, whatever it is called, and uses nothing unasked', async () => {
    models.follow(status());
    const trans = nullTranslator.load('exploracoder');
    await models.look();
    expect(models.choice).toEqual(CONFIGURED);
    const menu = ReactWidget.create(
      <ModelMenu
        id="menu"
        models={models}
        status={status()}
        onClose={() => undefined}
        tools={{ trans } as ITools}
      />
    );
    Widget.attach(menu, document.body);
    await until(() => menu.node.querySelectorAll('input[type=radio]').length === 2);
    expect(menu.node.querySelector('img')).toBeNull();
    expect(menu.node.textContent).toContain(FOUND.models[0]);
    menu.node.querySelectorAll<HTMLInputElement>('input[type=radio]')[1].click();
    expect(models.choice).toEqual({ name: FOUND.models[0], base_url: FOUND.base_url });
    menu.dispose();
  });
});
