/** The request that a form makes: method, target, and the body, which can be edited. */
import { element } from './dom.ts';
import type { PageOperation } from './page-data.ts';
import type { PageRequest } from './request.ts';
import { sizeText, visibleText } from './visible-text.ts';

export class RequestPreview {
  readonly view: HTMLElement;
  /** Whether the body is a text. */
  readonly #hasText: boolean;
  readonly #verb: HTMLElement;
  readonly #target = element('code', { class: 'target' });
  /** Why the method is QUERY. */
  readonly #note = element('p', { class: 'note' });
  readonly #bodyText = element('textarea', { class: 'payload', spellcheck: 'false', rows: 3 });
  /** Whether the user has edited the body. */
  #isEdited = false;

  constructor({ id, body, method }: PageOperation) {
    this.#hasText = body !== null && body.kind !== 'files';
    this.#verb = element('span', { class: `method ${method.toLowerCase()}` });
    this.#bodyText.id = `${id}-body`;
    const label = element(
      'label',
      { for: this.#bodyText.id, class: 'visually-hidden' },
      `Request body, ${body?.mediaType ?? ''}`,
    );
    const line = element('p', { class: 'request-line' }, this.#verb, ' ', this.#target);
    const text = this.#hasText ? [label, this.#bodyText] : [];
    this.view = element('div', { class: 'preview' }, line, this.#note, ...text);
  }

  get body(): string | null {
    return this.#hasText ? this.#bodyText.value : null;
  }

  /** The body that the user has edited; null for one that the inputs make. */
  get editedBody(): string | null {
    return this.#isEdited ? this.#bodyText.value : null;
  }

  /** Notices that the user has edited the body, or emptied it, if that is the target. */
  noticeInput(target: EventTarget | null): void {
    if (target === this.#bodyText) this.#isEdited = this.#bodyText.value !== '';
  }

  /** A body that the user has edited stays, until it is emptied. */
  showBody(made: string): void {
    if (!this.#isEdited) this.#bodyText.value = made;
    this.#bodyText.rows = Math.min(16, Math.max(2, this.#bodyText.value.split('\n').length));
  }

  restoreBody(edited: string | null): void {
    this.#isEdited = edited !== null;
    this.#bodyText.value = edited ?? '';
  }

  showTarget({ method, url, body }: PageRequest): void {
    const isQuery = method === 'QUERY' && body !== null;
    this.#verb.textContent = method;
    this.#target.textContent = visibleText(url.slice(location.origin.length));
    this.#note.textContent = isQuery
      ? `The query string is the body, because a URL with its ${sizeText(body.length)} may be too long.`
      : '';
    this.#note.hidden = !isQuery;
  }
}
