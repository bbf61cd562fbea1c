/** A response for readers: status, time, size, headers, body. */
import { createChoices } from './choices.ts';
import { copyText } from './copy-text.ts';
import { button, element } from './dom.ts';
import { readJsonRows } from './json-rows.ts';
import { formatJson } from './json-text.ts';
import { RowGrid } from './row-grid.ts';
import type { ReceivedResponse } from './send.ts';
import { durationText, sizeText, visibleText } from './visible-text.ts';

/** Characters of a body that are shown. */
const shownLength = 60_000;

/**
 * @param objectUrls receives the URLs to revoke when the view is removed
 * @param signIn begins a sign-in, for a response that asks for one; null for others
 */
export function responseView(
  response: ReceivedResponse,
  objectUrls: string[],
  signIn: (() => void) | null,
): HTMLElement {
  const { status, statusText, headers, totalBytes, milliseconds } = response;
  const kind = status < 300 ? 'good' : status < 400 ? 'other' : 'bad';
  const summary = element(
    'p',
    { class: 'outcome', role: 'status' },
    element('strong', { class: `status ${kind}` }, `${status} ${visibleText(statusText)}`.trim()),
    element('span', {}, durationText(milliseconds)),
    element('span', {}, sizeText(totalBytes)),
  );
  const headerList = element(
    'dl',
    {},
    ...headers.flatMap(([name, value]) => [
      element('dt', {}, visibleText(name)),
      element('dd', {}, visibleText(value)),
    ]),
  );
  return element(
    'div',
    { class: 'response' },
    summary,
    signIn === null ? null : signInPrompt(signIn),
    ...bodyView(response, objectUrls),
    element('details', { class: 'more' }, element('summary', {}, `Headers (${headers.length})`), headerList),
  );
}

function signInPrompt(signIn: () => void): HTMLElement {
  const note = element('span', { class: 'note' }, 'Then send the request again.');
  return element('div', { class: 'actions sign-in-prompt' }, button('Sign in', 'secondary', signIn), note);
}

/** Shows why there is no response. */
export function failureView(message: string): HTMLElement {
  const text = element(
    'p',
    { class: 'outcome', role: 'status' },
    element('strong', { class: 'status bad' }, 'No response'),
  );
  return element('div', { class: 'response' }, text, element('p', {}, visibleText(message)));
}

function bodyView(response: ReceivedResponse, objectUrls: string[]): readonly HTMLElement[] {
  const { bytes, totalBytes } = response;
  if (totalBytes === 0) return [element('p', { class: 'note' }, 'No body')];
  const type = mediaType(response);
  const isWhole = bytes.length === totalBytes;
  if (isText(type)) return textView(response, type, objectUrls);
  if (type.startsWith('image/') && isWhole) {
    const image = element('img', { alt: 'The image of the response', src: objectUrl(response, type, objectUrls) });
    return [image, saveLink(response, type, objectUrls)];
  }
  const note = element(
    'p',
    { class: 'note' },
    `${sizeText(totalBytes)} of ${visibleText(type) || 'an unnamed type'}, not shown`,
  );
  return isWhole ? [note, saveLink(response, type, objectUrls)] : [note];
}

function textView(response: ReceivedResponse, type: string, objectUrls: string[]): readonly HTMLElement[] {
  const { bytes, totalBytes } = response;
  const text = new TextDecoder().decode(bytes.subarray(0, shownLength * 4));
  const body = element('pre', { class: 'body', tabindex: 0, role: 'group', 'aria-label': 'Response body' });
  const isJson = /[/+](?:json|x-ndjson)$/.test(type);
  const shown = isJson ? appendJson(body, text) : appendText(body, text);
  const isWhole = bytes.length === totalBytes;
  if (isJson && isWhole) {
    const rows = readJsonRows(new TextDecoder().decode(bytes));
    if (rows !== null)
      return rowViews(new RowGrid(rows, (csv) => csvLink(csv, objectUrls)).view, [body, copyTools(body, bytes)]);
  }
  if (shown && isWhole && text.length < shownLength) return [body, copyTools(body, bytes)];
  const note = element('p', { class: 'note' }, `Only the beginning of ${sizeText(totalBytes)} is shown.`);
  return isWhole ? [note, body, copyTools(body, bytes), saveLink(response, type, objectUrls)] : [note, body];
}

/** The button that copies a body as the server has sent it. */
function copyTools(body: HTMLElement, bytes: Uint8Array): HTMLElement {
  const notice = element('span', { class: 'note', role: 'status' });
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(new TextDecoder().decode(bytes), notice, 'select the text');
    if (!isCopied) getSelection()?.selectAllChildren(body);
  };
  const tool = button('Copy body', 'secondary', () => void copy());
  return element('div', { class: 'actions body-actions' }, tool, notice);
}

/** Rows as a table, and as JSON beside it. */
function rowViews(table: HTMLElement, json: readonly HTMLElement[]): readonly HTMLElement[] {
  const { buttons, views } = createChoices('View of the rows', { Table: table, JSON: element('div', {}, ...json) });
  return [buttons, ...views];
}

function csvLink(csv: string, objectUrls: string[]): HTMLElement {
  const href = URL.createObjectURL(new Blob([csv], { type: 'application/octet-stream' }));
  objectUrls.push(href);
  return element('a', { class: 'button', href, download: 'rows.csv' }, 'Save as CSV');
}

/** Returns whether the whole text was appended. */
function appendText(body: HTMLElement, text: string): boolean {
  body.append(text.slice(0, shownLength));
  return text.length <= shownLength;
}

function appendJson(body: HTMLElement, text: string): boolean {
  let length = 0;
  let plain = '';
  for (const { kind, text: token } of formatJson(text)) {
    length += token.length;
    if (length > shownLength) {
      body.append(plain);
      return false;
    }
    if (kind === 'space') {
      plain += token;
      continue;
    }
    body.append(plain, element('span', { class: kind }, token));
    plain = '';
  }
  body.append(plain);
  return true;
}

function mediaType({ headers }: ReceivedResponse): string {
  const value = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  return value.split(';', 1)[0]!.trim().toLowerCase();
}

function isText(type: string): boolean {
  return type.startsWith('text/') || /[/+](?:json|x-ndjson|xml|javascript|yaml)$/.test(type);
}

function objectUrl({ bytes }: ReceivedResponse, type: string, objectUrls: string[]): string {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  objectUrls.push(url);
  return url;
}

/** Saves the bytes. As another type than text or image, a browser would not open them. */
function saveLink(response: ReceivedResponse, type: string, objectUrls: string[]): HTMLElement {
  const sentName = fileName(response);
  const extension = /^[\w.-]+$/.exec(type.split('/')[1] ?? '')?.[0].replace('plain', 'txt') ?? 'bin';
  const href = objectUrl(response, 'application/octet-stream', objectUrls);
  return element('p', {}, element('a', { href, download: sentName ?? `response.${extension}` }, 'Save the response'));
}

/** Returns the name of the file that the response has; null: none. The browser makes a safe name of it. */
function fileName({ headers }: ReceivedResponse): string | null {
  const value = headers.find(([name]) => name.toLowerCase() === 'content-disposition')?.[1] ?? '';
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(value)?.[1];
  if (encoded === undefined) return /filename="([^"]+)"/i.exec(value)?.[1] ?? null;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}
