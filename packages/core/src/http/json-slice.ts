/** The position of a JSON value in its document. Nothing is converted: numbers keep all digits. */
export interface JsonSlice {
  readonly kind: 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';
  /** The text of the whole document. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The JSON text of a value as it was sent. */
export function sliceToJson({ text, start, end }: JsonSlice): string {
  return text.slice(start, end);
}

/** The text of a string value; of every other kind the JSON text as it was sent. */
export function sliceToText(slice: JsonSlice): string {
  const raw = sliceToJson(slice);
  if (slice.kind !== 'string') return raw;
  return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
}

/** The whole value of a document of valid JSON. */
export function documentSlice(text: string): JsonSlice {
  return sliceAt(text, skipSpace(text, 0));
}

/** The members of an object in valid JSON, in order. Of equal keys, the last one counts. */
export function readMembers(object: JsonSlice): ReadonlyMap<string, JsonSlice> {
  const members = new Map<string, JsonSlice>();
  visitChildren(object, (key, value) => {
    members.set(key!, value);
    return true;
  });
  return members;
}

/** The elements of an array in valid JSON. */
export function readElements(array: JsonSlice): readonly JsonSlice[] {
  const items: JsonSlice[] = [];
  visitChildren(array, (_, value) => {
    items.push(value);
    return true;
  });
  return items;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Calls `visit` for the members of an object or the elements of an array, in order, until it returns false. The text must be valid JSON:
 * values are skipped, not checked, which is much faster than reading them.
 * @param visit `key` is null for an element
 * @returns the position where the search ended
 */
export function visitChildren(
  { kind, text, start }: JsonSlice,
  visit: (key: string | null, value: JsonSlice) => boolean,
): number {
  let position = skipSpace(text, start + 1);
  if (position >= text.length || isEnd(text.charCodeAt(position))) return position;
  for (;;) {
    let key: string | null = null;
    if (kind === 'object') {
      const end = skipString(text, position);
      key = sliceToText({ kind: 'string', text, start: position, end });
      position = skipSpace(text, skipSpace(text, end) + 1);
    }
    const value = sliceAt(text, position);
    if (!visit(key, value)) return value.end;
    position = skipSpace(text, value.end);
    if (text.charCodeAt(position) !== comma) return position;
    position = skipSpace(text, position + 1);
  }
}

function isEnd(code: number): boolean {
  return code === closeBracket || code === closeBrace;
}

function sliceAt(text: string, start: number): JsonSlice {
  switch (text.charCodeAt(start)) {
    case quote:
      return { kind: 'string', text, start, end: skipString(text, start) };
    case openBrace:
      return { kind: 'object', text, start, end: skipContainer(text, start) };
    case openBracket:
      return { kind: 'array', text, start, end: skipContainer(text, start) };
    case 0x74: // t
      return { kind: 'boolean', text, start, end: start + 4 };
    case 0x66: // f
      return { kind: 'boolean', text, start, end: start + 5 };
    case 0x6e: // n
      return { kind: 'null', text, start, end: start + 4 };
    default:
      return { kind: 'number', text, start, end: skipNumber(text, start) };
  }
}

function skipSpace(text: string, start: number): number {
  let position = start;
  for (;;) {
    const code = text.charCodeAt(position);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return position;
    position++;
  }
}

/** Returns the position behind the string that begins at `start`. */
function skipString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  for (; end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === backslash) first--;
    // After an even number of backslashes, the quote is not escaped.
    if ((end - first) % 2 === 0) return end + 1;
  }
  return text.length;
}

function skipNumber(text: string, start: number): number {
  let position = start;
  for (;;) {
    const code = text.charCodeAt(position);
    // A comma, a bracket, white space, or the end of the text.
    if (code <= 0x20 || code === comma || isEnd(code) || Number.isNaN(code)) return position;
    position++;
  }
}

function skipContainer(text: string, start: number): number {
  let depth = 0;
  for (let position = start; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === quote) position = skipString(text, position) - 1;
    else if (code === openBracket || code === openBrace) depth++;
    else if (isEnd(code) && --depth === 0) return position + 1;
  }
  return text.length;
}
