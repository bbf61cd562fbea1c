/** An opened endpoint: its description, its inputs, and the request and response. */
import { CodeView } from './code-view.ts';
import { button, element } from './dom.ts';
import { endpointAbout } from './endpoint-about.ts';
import { createPanels, type EventPanel } from './event-panel.ts';
import { FilterForm } from './filter-form.ts';
import type { PageData, PageListing, PageOperation, PageParameter } from './page-data.ts';
import { createParameterField, type ParameterField, type ParameterInput } from './parameter-input.ts';
import {
  changesQuery,
  type PageRequest,
  type ParameterTexts,
  requestBody,
  requestHeaders,
  requestTarget,
  shortenTarget,
} from './request.ts';
import type { FormState, RequestHistory } from './request-history.ts';
import { RequestPreview } from './request-preview.ts';
import { responseDocs } from './response-docs.ts';
import { failureView, responseView } from './response-view.ts';
import { orderSuggestions, selectForm } from './select-form.ts';
import { type ReceivedResponse, sendRequest } from './send.ts';
import type { Session } from './session.ts';
import { sizeText, visibleText } from './visible-text.ts';

const places: readonly (readonly [PageParameter['in'], string])[] = [
  ['path', 'Path'],
  ['query', 'Query string'],
  ['header', 'Headers'],
  ['body', 'Body'],
];

/** What the forms of a page share. */
export interface FormContext {
  readonly session: Session;
  readonly history: RequestHistory;
  /** The members of a problem. */
  readonly problem: PageData['problem'];
  /** Begins a sign-in; null for an API without callers. */
  readonly signIn: (() => void) | null;
}

export class EndpointForm {
  readonly view: HTMLFormElement;
  readonly #operation: PageOperation;
  readonly #context: FormContext;
  readonly #fields: readonly ParameterField[];
  /** The conditions of a listing; null for other endpoints. */
  readonly #filter: FilterForm | null;
  readonly #panels: readonly EventPanel[];
  readonly #fileInput: HTMLInputElement | null;
  readonly #preview: RequestPreview;
  readonly #code: CodeView;
  readonly #send = element('button', { type: 'submit', class: 'primary' }, 'Send');
  readonly #cancel = button('Cancel', 'secondary', () => this.#abort?.abort());
  readonly #progress = element('progress', { max: 1, value: 0, 'aria-label': 'Upload' });
  readonly #notice = element('p', { class: 'note', role: 'status' });
  readonly #result = element('div', { class: 'result' });
  #objectUrls: string[] = [];
  #abort: AbortController | null = null;

  constructor(operation: PageOperation, context: FormContext) {
    const { id, parameters, listing } = operation;
    this.#operation = operation;
    this.#context = context;
    const conditions = new Set(listing?.conditions.map(({ name }) => name));
    const isCondition = (parameter: PageParameter): boolean =>
      parameter.in === 'query' && conditions.has(parameter.name);
    this.#filter = listing === null ? null : new FilterForm(listing, parameters.filter(isCondition));
    this.#fields = parameters.flatMap((parameter, index) =>
      isCondition(parameter) ? [] : [createParameterField(parameter, `${id}-${index}`)],
    );
    this.#fileInput = createFileInput(operation);
    this.#preview = new RequestPreview(operation);
    this.#panels = createPanels(operation, context.session, () => changesQuery(operation, this.#texts()));
    this.#code = new CodeView(() => ({
      operation,
      request: this.#request([]),
      texts: this.#texts(),
      hasCookie: context.session.state === 'cookie',
    }));
    this.#cancel.hidden = true;
    this.#progress.hidden = true;
    const received = [this.#result, ...this.#panels.map(({ view }) => view)];
    const inputs = [endpointAbout(operation), ...this.#fieldsets()];
    this.view = element(
      'form',
      { class: 'opened' },
      element(
        'div',
        { class: 'request' },
        element('div', { class: 'inputs' }, ...inputs),
        element('div', { class: 'exchange' }, this.#preview.view, this.#actions(), this.#code.view),
      ),
      // Rows and events need the width of both columns.
      element('div', { class: 'received' }, ...received),
      responseDocs(operation, context.problem),
    );
    this.#listen();
    this.#update();
  }

  /** Shows an earlier request. */
  restore({ texts, body, files }: FormState): void {
    for (const input of this.#inputs()) input.restore(texts.get(input.parameter) ?? null);
    const rare = this.view.querySelector<HTMLDetailsElement>('.rare');
    if (rare !== null) rare.open ||= this.#fields.some((field) => this.#isRare(field) && field.texts() !== null);
    this.#preview.restoreBody(body);
    if (this.#fileInput !== null) {
      const transfer = new DataTransfer();
      for (const file of files) transfer.items.add(file);
      this.#fileInput.files = transfer.files;
    }
    this.#update();
  }

  /** Sends the request, unless an input is invalid. */
  send(): void {
    this.view.requestSubmit();
  }

  #inputs(): readonly ParameterInput[] {
    return [...(this.#filter?.inputs ?? []), ...this.#fields];
  }

  #fieldsets(): readonly HTMLElement[] {
    const { listing } = this.#operation;
    const select = listing === null ? undefined : this.#queryField(listing.select);
    const order = listing === null ? undefined : this.#queryField(listing.order);
    const groups = places.map(([place, title]) => {
      const fields = this.#fields.filter((field) => field.parameter.in === place && field !== select);
      return fieldset(
        title,
        fields.filter((field) => !this.#isRare(field)),
      );
    });
    const listed = listing === null ? [] : this.#listingViews(listing, select, order);
    return [...listed, ...groups, this.#rareView(), this.#uploadView()].filter((group) => group !== null);
  }

  /** Whether a listing hides the field at first: conditions have a form, and few requests have headers. */
  #isRare({ parameter }: ParameterField): boolean {
    const { listing } = this.#operation;
    if (listing === null || parameter.required || parameter.in === 'path') return false;
    const [limit, offset] = listing.page;
    return ![listing.select, listing.order, limit, offset].includes(parameter.name);
  }

  #rareView(): HTMLElement | null {
    const fields = this.#fields.filter((field) => this.#isRare(field));
    if (fields.length === 0) return null;
    const names = fields.map(({ parameter }) => visibleText(parameter.name)).join(', ');
    const groups = places.map(([place, title]) =>
      fieldset(
        title,
        fields.filter(({ parameter }) => parameter.in === place),
      ),
    );
    return element('details', { class: 'more rare' }, element('summary', {}, `More: ${names}`), ...groups);
  }

  #queryField(name: string): ParameterField | undefined {
    return this.#fields.find(({ parameter }) => parameter.in === 'query' && parameter.name === name);
  }

  #listingViews(
    listing: PageListing,
    select: ParameterField | undefined,
    order: ParameterField | undefined,
  ): readonly HTMLElement[] {
    if (order !== undefined) order.row.append(orderSuggestions(listing, order));
    return [this.#filter!.view, ...(select === undefined ? [] : [selectForm(listing, select)])];
  }

  #uploadView(): HTMLElement | null {
    const files = this.#fileInput;
    if (files === null) return null;
    const label = element('label', { for: files.id }, element('span', { class: 'name' }, 'file'));
    return element('fieldset', {}, element('legend', {}, 'Files'), element('div', { class: 'field' }, label, files));
  }

  #actions(): HTMLElement {
    const { workbookType } = this.#operation;
    const workbook =
      workbookType === null
        ? null
        : button('Get as Excel', 'secondary', () => {
            if (this.view.reportValidity()) void this.#submit([['accept', workbookType]]);
          });
    return element('div', { class: 'actions' }, this.#send, workbook, this.#cancel, this.#progress, this.#notice);
  }

  #listen(): void {
    this.view.addEventListener('input', ({ target }) => {
      this.#preview.noticeInput(target);
      this.#update();
    });
    this.view.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit();
    });
    this.view.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.send();
    });
    this.#context.session.onChange(() => this.#code.update());
  }

  #texts(): ParameterTexts {
    return new Map(this.#inputs().map(({ parameter, texts }) => [parameter, texts()]));
  }

  /** Shows the request that the inputs make. */
  #update(): void {
    this.#preview.showBody(requestBody(this.#operation, this.#texts()) ?? '');
    this.#preview.showTarget(this.#request([]));
    this.#code.update();
  }

  #request(extraHeaders: readonly [string, string][]): PageRequest {
    const { method, body: described } = this.#operation;
    const texts = this.#texts();
    const { body } = this.#preview;
    const request: PageRequest = {
      method,
      url: `${location.origin}${requestTarget(this.#operation, texts)}`,
      headers: [
        ...(body === null ? [] : [['content-type', described!.mediaType] as [string, string]]),
        ...requestHeaders(this.#operation, texts),
        ...this.#context.session.authorization(this.#operation),
        ...extraHeaders,
      ],
      body,
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
    const begin = performance.now();
    const [request, time] = [this.#request([]), new Date()];
    const state = { texts: this.#texts(), body: this.#preview.editedBody, files: request.files };
    const remember = (status: number | null): void => {
      const milliseconds = performance.now() - begin;
      this.#context.history.add({ operation: this.#operation, request, state, status, milliseconds, time });
    };
    try {
      const headers = [
        ...accept,
        ...this.#panels.flatMap((panel) => panel.headers()),
        ...(await this.#context.session.antiforgery()),
      ];
      const onProgress = (sent: number, total: number): void => this.#showProgress(sent, total);
      const options = { signal: abort.signal, onProgress, keepsAll: accept.length > 0 };
      const response = await sendRequest(this.#request(headers), options);
      remember(response.status);
      this.#show(response);
    } catch (error) {
      const { name, message } = error as Error;
      remember(null);
      this.#replaceResult(failureView(name === 'AbortError' ? 'Cancelled' : message));
    } finally {
      this.#abort = null;
      this.#setBusy(false);
    }
  }

  #show(response: ReceivedResponse): void {
    const urls: string[] = [];
    const { loginOrLogout } = this.#operation;
    const isRefused = response.status === 401 && loginOrLogout === null;
    this.#replaceResult(responseView(response, urls, isRefused ? this.#context.signIn : null));
    this.#objectUrls = urls;
    this.#context.session.received(this.#operation, response);
  }

  #replaceResult(view: HTMLElement): void {
    for (const url of this.#objectUrls) URL.revokeObjectURL(url);
    this.#objectUrls = [];
    this.#result.replaceChildren(view);
    this.#result.scrollIntoView({ block: 'nearest' });
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
}

/** Returns null for no fields. */
function fieldset(title: string, fields: readonly ParameterField[]): HTMLElement | null {
  const rows = fields.map(({ row }) => row);
  return rows.length === 0 ? null : element('fieldset', {}, element('legend', {}, title), ...rows);
}

/** Returns null for endpoints that take no files. */
function createFileInput({ id, body }: PageOperation): HTMLInputElement | null {
  if (body?.kind !== 'files') return null;
  const { required, accept } = body;
  return element('input', { type: 'file', id: `${id}-files`, multiple: true, required, accept: accept || null });
}
