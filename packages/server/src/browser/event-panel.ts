/** The live events of an endpoint. */
import { button, element } from './dom.ts';
import { createExecutionId, readEvents, type StreamEvent } from './event-stream.ts';
import type { PageOperation } from './page-data.ts';
import { encodeText } from './request.ts';
import type { Session } from './session.ts';
import { visibleText } from './visible-text.ts';

/** Older events are removed. */
const maxEvents = 500;

export class EventPanel {
  readonly view: HTMLElement;
  readonly #operation: PageOperation;
  readonly #session: Session;
  readonly #status = element('p', { class: 'note', role: 'status' });
  readonly #list = element('ol', { class: 'events', tabindex: 0, 'aria-label': 'Live events' });
  readonly #toggle = button('Start live events', 'secondary', () => this.#startOrStop());
  #abort: AbortController | null = null;
  #executionId: string | null = null;

  constructor(operation: PageOperation, session: Session) {
    this.#operation = operation;
    this.#session = session;
    const hint = `Messages of the routine while it runs, from ${visibleText(operation.eventsPath!)}. Start them, then send.`;
    this.#status.textContent = hint;
    this.#list.hidden = true;
    this.view = element(
      'section',
      { class: 'stream', 'aria-label': 'Live events' },
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
    this.#executionId = createExecutionId();
    this.#toggle.textContent = 'Stop live events';
    this.#list.replaceChildren();
    this.#status.textContent = 'Connecting …';
    this.#status.textContent = await this.#read(this.#executionId, abort.signal);
    this.#abort = null;
    this.#executionId = null;
    this.#toggle.textContent = 'Start live events';
  }

  /** Reads the stream. Returns why it ended. */
  async #read(executionId: string, signal: AbortSignal): Promise<string> {
    try {
      const headers = [...this.#session.authorization(this.#operation)];
      const url = `${location.origin}${encodeText(this.#operation.eventsPath!)}?${executionId}`;
      const response = await fetch(url, { headers, signal, cache: 'no-store' });
      if (!response.ok) return `The stream was refused: ${response.status} ${response.statusText}`;
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
