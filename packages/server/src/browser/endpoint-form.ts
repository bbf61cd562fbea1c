/** An opened endpoint: its description, its inputs, and the request and response. */
import { curlCommand } from './curl.ts';
import { button, element } from './dom.ts';
import { createPanels, type EventPanel } from './event-panel.ts';
import type { PageOperation, PageParameter } from './page-data.ts';
import { endpointAbout } from './endpoint-about.ts';
import { createParameterInput, type ParameterInput } from './parameter-input.ts';
import { type PageRequest, requestBody, requestHeaders, requestTarget, shortenTarget } from './request.ts';
import { failureView, responseView } from './response-view.ts';
import { type ReceivedResponse, sendRequest } from './send.ts';
import type { Session } from './session.ts';
import { sizeText, visibleText } from './visible-text.ts';

const places: readonly (readonly [PageParameter['in'], string])[] = [
  ['path', 'Path'],
  ['query', 'Query string'],
  ['header', 'Headers'],
  ['body', 'Body'],
];

export class EndpointForm {
  readonly view: HTMLFormElement;
  readonly #operation: PageOperation;
  readonly #session: Session;
  readonly #inputs: readonly ParameterInput[];
  readonly #panels: readonly EventPanel[];
  readonly #fileInput: HTMLInputElement | null;
  readonly #verb = element('span', { class: 'verb' });
  readonly #target = element('code', { class: 'target' });
  /** The body of a request with the method QUERY. */
  readonly #form = element('p', { class: 'note' });
  readonly #bodyText = element('textarea', { class: 'payload', spellcheck: 'false', rows: 3 });
  readonly #send = element('button', { type: 'submit', class: 'primary' }, 'Send');
  readonly #cancel = button('Cancel', 'secondary', () => this.#abort?.abort());
  readonly #progress = element('progress', { max: 1, value: 0, 'aria-label': 'Upload' });
  readonly #notice = element('p', { class: 'note', role: 'status' });
  readonly #result = element('div', { class: 'result' });
  #objectUrls: string[] = [];
  #abort: AbortController | null = null;
  /** Whether the user has edited the body itself. */
  #isBodyEdited = false;

  constructor(operation: PageOperation, session: Session) {
    const { id, parameters, body } = operation;
    this.#operation = operation;
    this.#session = session;
    this.#inputs = parameters.map((parameter, index) => createParameterInput(parameter, `${id}-${index}`));
    this.#panels = createPanels(operation, session);
    const isUpload = body?.kind === 'files';
    this.#fileInput = isUpload
      ? element('input', {
          type: 'file',
          id: `${id}-files`,
          multiple: true,
          required: body.required,
          accept: body.accept || null,
        })
      : null;
    this.#cancel.hidden = true;
    this.#progress.hidden = true;
    const exchange = [this.#preview(), this.#actions(), this.#result, ...this.#panels.map(({ view }) => view)];
    this.view = element(
      'form',
      { class: 'opened' },
      element('div', { class: 'inputs' }, endpointAbout(operation), ...this.#fieldsets()),
      element('div', { class: 'exchange' }, ...exchange),
    );
    this.#listen();
    this.#update();
  }

  #fieldsets(): readonly HTMLElement[] {
    const groups = places.map(([place, title]) => {
      const rows = this.#inputs.filter(({ parameter }) => parameter.in === place).map(({ row }) => row);
      return rows.length === 0 ? null : element('fieldset', {}, element('legend', {}, title), ...rows);
    });
    const files = this.#fileInput;
    const label =
      files === null ? null : element('label', { for: files.id }, element('span', { class: 'name' }, 'file'));
    const field = files === null ? null : element('div', { class: 'field' }, label, files);
    const upload = field === null ? null : element('fieldset', {}, element('legend', {}, 'Files'), field);
    return [...groups, upload].filter((group) => group !== null);
  }

  #preview(): HTMLElement {
    const { id, body } = this.#operation;
    const hasText = body !== null && body.kind !== 'files';
    this.#bodyText.id = `${id}-body`;
    const label = element(
      'label',
      { for: this.#bodyText.id, class: 'visually-hidden' },
      `Request body, ${body?.mediaType ?? ''}`,
    );
    const line = element('p', { class: 'request-line' }, this.#verb, ' ', this.#target);
    return element('div', { class: 'preview' }, line, this.#form, ...(hasText ? [label, this.#bodyText] : []));
  }

  #actions(): HTMLElement {
    const copy = button('Copy as curl', 'secondary', () => void this.#copy());
    const { workbookType } = this.#operation;
    const workbook =
      workbookType === null
        ? null
        : button('Get as Excel', 'secondary', () => {
            if (this.view.reportValidity()) void this.#submit([['accept', workbookType]]);
          });
    return element('div', { class: 'actions' }, this.#send, workbook, this.#cancel, copy, this.#progress, this.#notice);
  }

  #listen(): void {
    this.view.addEventListener('input', ({ target }) => {
      if (target === this.#bodyText) this.#isBodyEdited = this.#bodyText.value !== '';
      this.#update();
    });
    this.view.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit();
    });
    this.view.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.view.requestSubmit();
    });
  }

  #texts(): Map<PageParameter, readonly string[] | null> {
    return new Map(this.#inputs.map(({ parameter, texts }) => [parameter, texts()]));
  }

  /** Shows the request that the inputs make. A body that the user has edited stays, until it is emptied. */
  #update(): void {
    const texts = this.#texts();
    this.#showTarget();
    if (!this.#isBodyEdited) this.#bodyText.value = requestBody(this.#operation, texts) ?? '';
    this.#bodyText.rows = Math.min(16, Math.max(2, this.#bodyText.value.split('\n').length));
  }

  #showTarget(): void {
    const { method, url, body } = this.#request([]);
    const isQuery = method === 'QUERY' && body !== null;
    this.#verb.textContent = method;
    this.#target.textContent = visibleText(url.slice(location.origin.length));
    this.#form.textContent = isQuery
      ? `The query string is the body, because a URL with its ${sizeText(body.length)} may be too long.`
      : '';
    this.#form.hidden = !isQuery;
  }

  #request(extraHeaders: readonly [string, string][]): PageRequest {
    const { method, body } = this.#operation;
    const texts = this.#texts();
    const hasText = body !== null && body.kind !== 'files';
    const request: PageRequest = {
      method,
      url: `${location.origin}${requestTarget(this.#operation, texts)}`,
      headers: [
        ...(hasText ? [['content-type', body.mediaType] as [string, string]] : []),
        ...requestHeaders(this.#operation, texts),
        ...this.#session.authorization(this.#operation),
        ...extraHeaders,
      ],
      body: hasText ? this.#bodyText.value : null,
      files: [...(this.#fileInput?.files ?? [])],
    };
    return shortenTarget(request, this.#operation);
  }

  /** @param accept the header of a file to save, which is kept whole */
  async #submit(accept: readonly [string, string][] = []): Promise<void> {
    if (this.#abort !== null) return;
    const abort = new AbortController();
    this.#abort = abort;
    this.#setBusy(true);
    try {
      const headers = [
        ...accept,
        ...this.#panels.flatMap((panel) => panel.headers()),
        ...(await this.#session.antiforgery()),
      ];
      const onProgress = (sent: number, total: number): void => this.#showProgress(sent, total);
      this.#show(
        await sendRequest(this.#request(headers), { signal: abort.signal, onProgress, keepsAll: accept.length > 0 }),
      );
    } catch (error) {
      const { name, message } = error as Error;
      this.#replaceResult(failureView(name === 'AbortError' ? 'Cancelled' : message));
    } finally {
      this.#abort = null;
      this.#setBusy(false);
    }
  }

  #show(response: ReceivedResponse): void {
    const urls: string[] = [];
    this.#replaceResult(responseView(response, urls));
    this.#objectUrls = urls;
    this.#session.received(this.#operation, response);
  }

  #replaceResult(view: HTMLElement): void {
    for (const url of this.#objectUrls) URL.revokeObjectURL(url);
    this.#objectUrls = [];
    this.#result.replaceChildren(view);
  }

  #setBusy(isBusy: boolean): void {
    // A disabled button would lose the focus.
    this.#send.setAttribute('aria-disabled', String(isBusy));
    this.#cancel.hidden = !isBusy;
    this.#progress.hidden = !isBusy || this.#fileInput === null;
    this.#progress.value = 0;
    this.#notice.textContent = isBusy ? 'Sending …' : '';
  }

  #showProgress(sent: number, total: number): void {
    this.#progress.value = sent / total;
    this.#notice.textContent =
      sent < total ? `${Math.floor((100 * sent) / total)} % of ${sizeText(total)}` : 'Sent; waiting for the response …';
  }

  async #copy(): Promise<void> {
    const command = curlCommand(this.#request([]));
    try {
      await navigator.clipboard.writeText(command);
      this.#notice.textContent = 'Copied';
    } catch {
      // Not allowed, or not a secure context.
      this.#replaceResult(element('pre', { class: 'body', tabindex: 0 }, command));
      this.#notice.textContent = 'Copy the command below.';
    }
  }
}
