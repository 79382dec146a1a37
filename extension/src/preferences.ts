import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { PartialJSONValue } from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';
import { IChoices, IStore } from './draft';
import { IPrices } from './wording';

/** The user's settings, as the sidebar uses them. */
export class Preferences implements IStore {
  /** Take over the values, now and on every change. */
  follow(settings: ISettingRegistry.ISettings): void {
    this._settings = settings;
    const update = () => {
      this._values = settings.composite;
      this._changed.emit();
    };
    settings.changed.connect(update);
    update();
  }

  async fetch(key: string): Promise<unknown> {
    return this._values[key];
  }

  async save(key: string, value: PartialJSONValue): Promise<void> {
    await this._settings?.set(key, value);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get area(): 'left' | 'right' {
    return this._values.area === 'right' ? 'right' : 'left';
  }

  get mode(): 'auto' | 'review' {
    return this._values.mode === 'auto' ? 'auto' : 'review';
  }

  get opensNotebook(): boolean {
    return this._values.openNotebook !== false;
  }

  /** What an exploration starts with; the profile sets the rest. */
  get choices(): Omit<IChoices, 'model'> {
    const settings: { [name: string]: number } = {};
    for (const [name, setting] of LIMITS) {
      const value = this._values[name];
      if (typeof value === 'number' && value > 0) {
        settings[setting] = value;
      }
    }
    const profile = this._values.profile;
    return {
      profile: typeof profile === 'string' && profile ? profile : null,
      settings
    };
  }

  get prices(): IPrices | null {
    const { completionPrice, promptPrice } = this._values;
    const prompt = typeof promptPrice === 'number' ? promptPrice : 0;
    const completion = typeof completionPrice === 'number' ? completionPrice : 0;
    return prompt || completion ? { prompt, completion } : null;
  }

  private _settings: ISettingRegistry.ISettings | null = null;
  private _values: ISettingRegistry.ISettings['composite'] = {};
  private _changed = new Signal<this, void>(this);
}

// Our names, and the engine's.
const LIMITS = [
  ['candidates', 'candidates'],
  ['maxSeconds', 'max_seconds'],
  ['maxTokens', 'max_tokens']
];
