import { ISignal, Signal } from '@lumino/signaling';
import { Lookup, LookupAnswer } from './protocol';
import { pathOf, Requests } from './request';
import { ILookupOutcome, ILookups, ILookupWish, LookupKind, LookupScope } from './tokens';

// The command palette moves the focus again after its command has run.
const WANTED_MS = 500;

/** What the user looks up in the source of libraries: the question and its outcome. */
export class Lookups implements ILookups {
  constructor(private readonly _requests: Requests) {}

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get kind(): LookupKind {
    return this._kind;
  }

  get text(): string {
    return this._text;
  }

  get isOpen(): boolean {
    return this._isOpen;
  }

  get wishes(): number {
    return this._wishes;
  }

  get isWanted(): boolean {
    return this._isWanted;
  }

  get isDue(): boolean {
    return this._isDue;
  }

  update(values: Partial<Pick<ILookups, 'kind' | 'text' | 'isOpen'>>): void {
    const { isOpen = this._isOpen, kind = this._kind, text = this._text } = values;
    if (isOpen !== this._isOpen || kind !== this._kind || text !== this._text) {
      this._isOpen = isOpen;
      this._kind = kind;
      this._text = text;
      this._changed.emit();
    }
  }

  want(wish: ILookupWish): void {
    this._wishes += 1;
    this._isDue = wish.text !== undefined;
    this._isWanted = true;
    clearTimeout(this._timer);
    this._timer = setTimeout(() => {
      this._isWanted = false;
    }, WANTED_MS);
    this.update({ ...wish, isOpen: true });
    this._changed.emit();
  }

  outcome(scope: LookupScope): ILookupOutcome | null {
    return this._outcome?.scope === nameOf(scope) ? this._outcome : null;
  }

  async ask(scope: LookupScope): Promise<void> {
    this._isDue = false;
    const text = this._text.trim();
    if (!text) {
      return;
    }
    const asked = { scope: nameOf(scope), isAsking: true, answer: null, error: '' };
    this._take(asked);
    const outcome = await this._send(scope, { kind: this._kind, text }).then(
      answer => ({ answer, error: '' }),
      reason => ({ answer: null, error: reason instanceof Error ? reason.message : `${reason}` })
    );
    // A newer question makes this answer obsolete.
    if (this._outcome === asked) {
      this._take({ ...asked, ...outcome, isAsking: false });
    }
  }

  private _send(scope: LookupScope, question: Lookup): Promise<LookupAnswer> {
    if ('id' in scope) {
      return this._requests.post(pathOf('explorations', scope.id, 'lookups'), question);
    }
    const { kernelName: kernel_name, libraries } = scope;
    return this._requests.post('lookups', { ...question, libraries, kernel_name });
  }

  private _take(outcome: IScopedOutcome): void {
    this._outcome = outcome;
    this._changed.emit();
  }

  private _kind: LookupKind = 'class';
  private _text = '';
  private _isOpen = false;
  private _isWanted = false;
  private _isDue = false;
  private _wishes = 0;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _outcome: IScopedOutcome | null = null;
  private _changed = new Signal<this, void>(this);
}

interface IScopedOutcome extends ILookupOutcome {
  readonly scope: string;
}

function nameOf(scope: LookupScope): string {
  return JSON.stringify('id' in scope ? scope.id : [scope.kernelName, ...scope.libraries]);
}
