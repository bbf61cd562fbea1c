import { createHash } from 'node:crypto';
import type { ResultColumn } from '../endpoints/endpoint.ts';
import type { HeaderList } from '../http/response.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { textConverter } from './delimited.ts';
import { readFields, type RowWriter } from './rows.ts';

const style =
  // Browsers without light-dark() use the declaration before it.
  ':root{color-scheme:light dark;color:light-dark(#182026,#e6e9ec);background:light-dark(#fff,#111417)}' +
  'body{font:14px/1.4 system-ui,sans-serif;margin:1rem}' +
  'table{border-collapse:collapse}' +
  'th,td{border:1px solid #ccc;border-color:light-dark(#ccc,#2c343b);padding:.25rem .5rem;text-align:left;vertical-align:top;white-space:pre-wrap}' +
  'thead th{background:#eee;background:light-dark(#eee,#191d21);position:sticky;top:0;white-space:nowrap}' +
  'a{color:light-dark(#0f5f58,#5fc7bb)}' +
  '.n{text-align:right;white-space:nowrap}';
const styleHash = createHash('sha256').update(style).digest('base64');

/** Values are data of users: the page loads nothing, runs no script, and is shown in no frame. */
export const htmlHeaders: HeaderList = Object.freeze([
  'content-security-policy',
  `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
]);

const entities: ReadonlyMap<number, Buffer> = new Map(
  Object.entries({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }).map(([char, entity]) => [
    char.charCodeAt(0),
    Buffer.from(entity),
  ]),
);

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => entities.get(char.charCodeAt(0))!.toString());
}

/** Writes UTF-8 text with the entities that are safe in content and in attributes with double quotes. */
function writeEscaped(out: ByteBuffer, text: Uint8Array): void {
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!;
    // The bytes of the escaped characters are in this range.
    if (byte > 0x3e || byte < 0x22) continue;
    const entity = entities.get(byte);
    if (entity === undefined) continue;
    out.append(text.subarray(copied, at));
    out.append(entity);
    copied = at + 1;
  }
  out.append(copied === 0 ? text : text.subarray(copied));
}

/** Returns the page up to its first row: one table, whose headings are the converted names. */
export function htmlOpening(title: string, columns: readonly ResultColumn[]): Buffer {
  const headings = columns.map((column) => `<th${isNumber(column) ? ' class="n"' : ''}>${escapeHtml(column.key)}</th>`);
  return Buffer.from(
    `<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n` +
      `<meta name="viewport" content="width=device-width,initial-scale=1">\n<title>${escapeHtml(title)}</title>\n` +
      `<style>${style}</style>\n</head>\n<body>\n<table>\n<thead><tr>${headings.join('')}</tr></thead>\n<tbody>\n`,
  );
}

export const htmlClosing: Buffer = Buffer.from('</tbody>\n</table>\n</body>\n</html>\n');

function isNumber({ type }: ResultColumn): boolean {
  return type.json === 'number' || type.json === 'numberText';
}

const rowStart = Buffer.from('<tr>');
const rowEnd = Buffer.from('</tr>\n');
const cellStart = Buffer.from('<td>');
const numberStart = Buffer.from('<td class="n">');
const cellEnd = Buffer.from('</td>');
const linkStart = Buffer.from('<a rel="noopener noreferrer" href="');
const linkMiddle = Buffer.from('">');
const linkEnd = Buffer.from('</a>');

/** Returns a writer of rows of the table. NULL is an empty cell; a text that is a URL of HTTP is a link. */
export function htmlWriter(columns: readonly ResultColumn[]): RowWriter {
  const cells = columns.map((column) => ({
    start: isNumber(column) ? numberStart : cellStart,
    convert: textConverter(column),
    mayBeLink: column.type.json === 'string',
  }));
  return (out, chunk, offset, count) => {
    out.append(rowStart);
    let index = 0;
    for (const field of readFields(chunk, offset, count)) {
      const { start = cellStart, convert = null, mayBeLink = false } = cells[index++] ?? {};
      out.append(start);
      if (field !== null) {
        const text = convert === null ? field : convert(field);
        if (mayBeLink && isHttpUrl(text)) writeLink(out, text);
        else writeEscaped(out, text);
      }
      out.append(cellEnd);
    }
    out.append(rowEnd);
  };
}

function writeLink(out: ByteBuffer, url: Uint8Array): void {
  out.append(linkStart);
  writeEscaped(out, url);
  out.append(linkMiddle);
  writeEscaped(out, url);
  out.append(linkEnd);
}

/** The characters of RFC 3986, section 2: a URL has no spaces and no quotes. */
const httpUrl = /^https?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]+$/;
/** Longer values are no URLs that a browser would follow. */
const maxUrlBytes = 8192;

function isHttpUrl(text: Uint8Array): boolean {
  // Most values do not begin with `h`.
  if (text[0] !== 0x68 || text.length > maxUrlBytes) return false;
  return httpUrl.test(Buffer.from(text.buffer, text.byteOffset, text.length).toString('latin1'));
}
