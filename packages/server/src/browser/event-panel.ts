/** The live events of an endpoint, or the changes of its rows. */
import { button, element } from './dom.ts';
import { createExecutionId, readEvents, type StreamEvent } from './event-stream.ts';
import type { PageOperation } from './page-data.ts';
import { encodeText } from './request.ts';
import type { Session } from './session.ts';
import { visibleText } from './visible-text.ts';

/** Older events are removed. */
const maxEvents = 500;

/** What a panel shows. */
interface PanelKind {
  /** `live events` */
  readonly name: string;
  readonly path: string;
  readonly hint: string;
  /** Returns the query string; null: the id that connects a call with the stream. */
  readonly query: () => string | null;
}

/**
 * Returns the panels of an operation.
 * @param changesQuery returns the parameters of a stream of changes: the conditions and columns of the form
 */
export function createPanels(
  operation: PageOperation,
  session: Session,
  changesQuery: () => string,
): readonly EventPanel[] {
  const { eventsPath, changesPath } = operation;
  const kinds: readonly (PanelKind | null)[] = [
    eventsPath === null
      ? null
      : {
          name: 'live events',
          path: eventsPath,
          hint: `Messages of the routine while it runs, from ${visibleText(eventsPath)}. Watch them, then send.`,
          query: () => null,
        },
    changesPath === null
      ? null
      : {
          name: 'changes',
          path: changesPath,
          hint: `The rows that you may select, and their changes, from ${visibleText(changesPath)}. Conditions and columns of the form apply; related rows are left out.`,
          query: changesQuery,
        },
  ];
  return kinds.filter((kind) => kind !== null).map((kind) => new EventPanel(operation, session, kind));
}

export class EventPanel {
  readonly view: HTMLElement;
  readonly #operation: PageOperation;
  readonly #session: Session;
  readonly #status = element('p', { class: 'note', role: 'status' });
  readonly #kind: PanelKind;
  readonly #list: HTMLOListElement;
  readonly #toggle: HTMLButtonElement;
  #abort: AbortController | null = null;
  #executionId: string | null = null;

  constructor(operation: PageOperation, session: Session, kind: PanelKind) {
    this.#operation = operation;
    this.#session = session;
    this.#kind = kind;
    const label = kind.name.replace(/^./, (letter) => letter.toUpperCase());
    this.#list = element('ol', { class: 'events', tabindex: 0, 'aria-label': label });
    this.#toggle = button(`Watch ${kind.name}`, 'secondary', () => this.#startOrStop());
    this.#status.textContent = kind.hint;
    this.#list.hidden = true;
    this.view = element(
      'div',
      { class: 'stream', role: 'group', 'aria-label': label },
      this.#toggle,
      this.#status,
      this.#list,
    );
  }

  /** Returns the header that sends the events of a call to this stream only. */
  headers(): readonly [string, string][] {
    return this.#executionId === null ? [] : [['X-Gateway-ID', this.#executionId]];
  }

  #startOrStop(): void {
    if (this.#abort === null) void this.#run(new AbortController());
    else this.#abort.abort();
  }

  async #run(abort: AbortController): Promise<void> {
    this.#abort = abort;
    const query = this.#kind.query();
    this.#executionId = query === null ? createExecutionId() : null;
    this.#toggle.textContent = 'Stop watching';
    this.#list.replaceChildren();
    this.#status.textContent = 'Connecting …';
    this.#status.textContent = await this.#read(query ?? this.#executionId!, abort.signal);
    this.#abort = null;
    this.#executionId = null;
    this.#toggle.textContent = `Watch ${this.#kind.name}`;
  }

  /** Reads the stream. Returns why it ended. */
  async #read(query: string, signal: AbortSignal): Promise<string> {
    try {
      const headers = [...this.#session.authorization(this.#operation)];
      const url = `${location.origin}${encodeText(this.#kind.path)}?${query}`;
      const response = await fetch(url, { headers, signal, cache: 'no-store' });
      if (!response.ok) return `The stream was refused: ${await refusalText(response)}`;
      this.#status.textContent = 'Connected. Events appear here.';
      this.#list.hidden = false;
      await readEvents(response, (event) => this.#show(event));
      return 'The server ended the stream.';
    } catch {
      return signal.aborted ? 'Stopped.' : 'The connection was lost.';
    }
  }

  #show({ id, data }: StreamEvent): void {
    const time = new Date().toLocaleTimeString();
    const isAtEnd = this.#list.scrollTop + this.#list.clientHeight >= this.#list.scrollHeight - 4;
    this.#list.append(
      element(
        'li',
        { title: id === '' ? null : visibleText(`id ${id}`) },
        element('time', {}, time),
        element('span', {}, visibleText(data)),
      ),
    );
    if (this.#list.childElementCount > maxEvents) this.#list.firstElementChild!.remove();
    if (isAtEnd) this.#list.scrollTop = this.#list.scrollHeight;
  }
}

/** Returns the status, and what a problem says about it. */
async function refusalText(response: Response): Promise<string> {
  const status = `${response.status} ${response.statusText}`.trim();
  if (response.headers.get('content-type')?.startsWith('application/problem+json') !== true) return status;
  const { title, detail } = (await response.json()) as { readonly title: string; readonly detail?: string };
  return visibleText(`${status}. ${title}. ${detail ?? ''}`.trim());
}
