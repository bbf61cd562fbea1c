/** The requests that the page has sent since it was loaded, in its memory: they may contain passwords. */
import { button, element } from './dom.ts';
import type { PageOperation } from './page-data.ts';
import type { PageRequest, ParameterTexts } from './request.ts';
import { durationText, visibleText } from './visible-text.ts';

/** What a user has entered into a form. */
export interface FormState {
  readonly texts: ParameterTexts;
  /** The body that the user has edited; null for one that the inputs make. */
  readonly body: string | null;
  readonly files: readonly File[];
}

export interface SentRequest {
  readonly operation: PageOperation;
  readonly request: PageRequest;
  readonly state: FormState;
  /** Null: there was no response. */
  readonly status: number | null;
  readonly milliseconds: number;
  readonly time: Date;
}

/** Older requests are forgotten. */
const maxRequests = 100;

export class RequestHistory {
  readonly #listeners: (() => void)[] = [];
  #requests: readonly SentRequest[] = [];

  /** The latest first. */
  get requests(): readonly SentRequest[] {
    return this.#requests;
  }

  add(sent: SentRequest): void {
    this.#requests = [sent, ...this.#requests].slice(0, maxRequests);
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

/** What the page does with an earlier request. */
export interface HistoryActions {
  /** Shows it in the form of its endpoint. */
  readonly open: (sent: SentRequest) => void;
  /** Shows it there, and sends it. */
  readonly send: (sent: SentRequest) => void;
}

/** Returns the button in the header, and the dialog that it opens. */
export function historyView(history: RequestHistory, actions: HistoryActions): HTMLElement {
  const list = element('ol', { class: 'history' });
  const dialog = element('dialog', { 'aria-labelledby': 'history-title', class: 'wide' });
  const close = (): void => dialog.close();
  dialog.append(
    element('h2', { id: 'history-title' }, 'History'),
    element('p', { class: 'note' }, 'Requests of this page, until it is reloaded.'),
    list,
    element('div', { class: 'actions' }, button('Close', 'secondary', close)),
  );
  const toggle = button('History', 'secondary', () => dialog.showModal());
  const update = (): void => {
    const { requests } = history;
    toggle.hidden = requests.length === 0;
    toggle.textContent = `History (${requests.length})`;
    list.replaceChildren(...requests.map((sent) => historyItem(sent, actions, close)));
  };
  history.onChange(update);
  update();
  return element('div', { class: 'history-button' }, toggle, dialog);
}

function historyItem(sent: SentRequest, { open, send }: HistoryActions, close: () => void): HTMLElement {
  const { request, status, milliseconds, time } = sent;
  const target = visibleText(request.url.slice(location.origin.length));
  const kind = status !== null && status < 300 ? 'good' : status !== null && status < 400 ? 'other' : 'bad';
  const closing = (act: (chosen: SentRequest) => void) => (): void => {
    close();
    act(sent);
  };
  return element(
    'li',
    {},
    element('span', { class: `method ${request.method.toLowerCase()}` }, request.method),
    element('code', { class: 'target' }, target),
    element('strong', { class: `status ${kind}` }, status === null ? 'No response' : String(status)),
    element('span', { class: 'note' }, `${durationText(milliseconds)}, ${time.toLocaleTimeString()}`),
    element(
      'span',
      { class: 'item-actions' },
      button('Open', 'choice', closing(open)),
      button('Send again', 'choice', closing(send)),
    ),
  );
}
