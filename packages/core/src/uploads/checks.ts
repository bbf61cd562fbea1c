import type { UploadContext, UploadHandler, UploadStatus } from '../ports/upload-handler.ts';

type Options = UploadContext['options'];

/** The first bytes of a file. */
export interface FileHead {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** Whether the bytes are the whole file. */
  readonly isWhole: boolean;
}

/** Bytes of a text without a line feed that a check for lines reads at most. */
const maxFirstLine = 1024 * 1024;
const lineFeed = 0x0a;

/** Returns whether the checks of a handler need more bytes than these. */
export function needsMoreBytes(handler: UploadHandler, options: Options, { bytes, isWhole }: FileHead): boolean {
  if (isWhole) return false;
  const kind = textCheck(handler, options);
  if (kind === null && options['check_image'] === false) return false;
  if (bytes.length < Math.max(longestSignature, options['test_buffer_size'] as number)) return true;
  return kind === 'lines' && bytes.length < maxFirstLine && !bytes.includes(lineFeed);
}

/** Checks the media type, then the text, then the image format. */
export function checkFile(handler: UploadHandler, options: Options, head: FileHead): UploadStatus {
  if (!isIncluded(options, head.contentType)) return 'InvalidMimeType';
  const kind = textCheck(handler, options);
  if (kind !== null) {
    const status = checkText(head, options, kind);
    if (status !== 'Ok') return status;
  }
  return checkImage(options['check_image'] as boolean | readonly string[], head.bytes) ? 'Ok' : 'InvalidImage';
}

function textCheck({ checksText }: UploadHandler, options: Options): 'text' | 'lines' | null {
  return checksText?.(options) ?? (options['check_text'] === true ? 'text' : null);
}

/** An exclusion wins over an inclusion. */
function isIncluded(options: Options, contentType: string): boolean {
  const included = options['included_mime_types'] as readonly string[] | null;
  const excluded = options['excluded_mime_types'] as readonly string[] | null;
  const matches = (pattern: string): boolean => matchesWildcards(pattern.toLowerCase(), contentType.toLowerCase());
  return (included === null || included.some(matches)) && !(excluded ?? []).some(matches);
}

/** Matches `*` (any text) and `?` (one character), in time proportional to the product of both lengths. */
export function matchesWildcards(pattern: string, text: string): boolean {
  let [index, position] = [0, 0];
  let [star, starPosition] = [-1, 0];
  while (position < text.length) {
    if (pattern[index] === '*') {
      star = index++;
      starPosition = position;
    } else if (index < pattern.length && (pattern[index] === '?' || pattern[index] === text[position])) {
      index++;
      position++;
    } else if (star !== -1) {
      // The last `*` takes one character more.
      index = star + 1;
      position = ++starPosition;
    } else {
      return false;
    }
  }
  while (pattern[index] === '*') index++;
  return index === pattern.length;
}

function checkText({ bytes, isWhole }: FileHead, options: Options, kind: 'text' | 'lines'): UploadStatus {
  if (isWhole && bytes.length === 0) return 'Empty';
  const tested = bytes.subarray(0, options['test_buffer_size'] as number);
  const controls = tested.filter(isControl).length;
  if (tested.includes(0) || controls > (options['non_printable_threshold'] as number)) return 'ProbablyBinary';
  return kind === 'lines' && !bytes.includes(lineFeed) ? 'NoNewLines' : 'Ok';
}

/** Tab, carriage return and line feed do not count. */
function isControl(byte: number): boolean {
  return (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) || byte === 0x7f;
}

const latin1 = (bytes: Uint8Array, start: number, end: number): string =>
  String.fromCharCode(...bytes.subarray(start, end));

/** The leading bytes of image formats. */
const signatures: Readonly<Record<string, (bytes: Uint8Array) => boolean>> = {
  jpg: (bytes) => latin1(bytes, 0, 3) === '\xff\xd8\xff',
  png: (bytes) => latin1(bytes, 0, 8) === '\x89PNG\r\n\x1a\n',
  gif: (bytes) => /^GIF8[79]a$/.test(latin1(bytes, 0, 6)),
  bmp: (bytes) => latin1(bytes, 0, 2) === 'BM',
  tiff: (bytes) => ['II*\0', 'MM\0*'].includes(latin1(bytes, 0, 4)),
  webp: (bytes) => latin1(bytes, 0, 4) === 'RIFF' && latin1(bytes, 8, 12) === 'WEBP',
};
const longestSignature = 12;

function checkImage(allowed: boolean | readonly string[], bytes: Uint8Array): boolean {
  if (allowed === false) return true;
  const formats =
    allowed === true ? Object.keys(signatures) : allowed.flatMap((name) => name.toLowerCase().split(/\s+/));
  return formats.some((name) => signatures[name === 'jpeg' ? 'jpg' : name]?.(bytes) === true);
}
