import { randomUUID } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { windowsReservedNameRegex } from 'filename-reserved-regex';
import filenamify from 'filenamify';

/** Bytes of UTF-8 that most file systems allow for a name. */
const maxNameBytes = 255;
/** `filenamify` appends a character to names that Windows reserves. */
const maxTruncatedBytes = maxNameBytes - 1;

/** Returns a new name with the extension of the client's name, if that consists of letters and digits. */
export function uniqueFileName(clientName: string): string {
  const extension = /\.[a-z0-9]{1,16}$/i.exec(clientName)?.[0] ?? '';
  return `${randomUUID()}${extension}`;
}

/**
 * Returns the last component of a path as a name that every file system accepts: visible, without separators, control
 * characters and colons, not reserved by Windows, 255 bytes at most. Null: nothing is left of it.
 */
export function safeFileName(path: string): string | null {
  const component = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  // The conversion replaces unpaired surrogates.
  const wellFormed = Buffer.from(component).toString().normalize('NFC');
  const visible = wellFormed.replace(/^[.\s]+/, '');
  if (visible === '') return null;
  return filenamify(truncate(visible), { replacement: '_', maxLength: maxNameBytes });
}

/** Shortens the name before its extension. `filenamify` counts UTF-16 code units instead of bytes. */
function truncate(name: string): string {
  if (Buffer.byteLength(name) <= maxTruncatedBytes) return name;
  const extension = /\.[^.\s]{1,32}$/u.exec(name)?.[0] ?? '';
  const stem = Buffer.from(name.slice(0, name.length - extension.length));
  const rest = stem.subarray(0, maxTruncatedBytes - Buffer.byteLength(extension));
  // The decoder leaves out an incomplete character at the end.
  return new StringDecoder('utf8').write(rest) + extension;
}

const pathValueFaults: readonly (readonly [RegExp, string])[] = [
  [/^$/, 'must not be empty'],
  [/^\./, 'must not begin with a dot'],
  [/[/\\]/, 'must not contain slashes or backslashes'],
  [/:/, 'must not contain colons'],
  [/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u, 'must not contain control characters'],
  [/[. ]$/, 'must not end with a dot or a space'],
  [windowsReservedNameRegex(), 'must not be a device name of Windows'],
];

/**
 * Checks a value that replaces a template in a path or file name: it has to be one safe path component.
 * @returns the rule that the value breaks, such as `must not be empty`; null: none
 */
export function checkPathValue(text: string): string | null {
  const fault = pathValueFaults.find(([pattern]) => pattern.test(text));
  if (fault !== undefined) return fault[1];
  return Buffer.byteLength(text) > maxNameBytes ? `must not be longer than ${maxNameBytes} bytes` : null;
}
