/**
 * Writes DataRow messages as JSON: the WebAssembly module of `src/response/row-encoder.ts`, in AssemblyScript. `src/response/json-text.ts` and
 * `rows.ts` define the result byte by byte; a property test compares both.
 *
 * Texts are copied in blocks of 16 bytes, also at their end: up to 15 bytes behind a text are written, and overwritten by what follows.
 * Only the bytes before the returned end are part of the result.
 */

// The regions of the memory. `src/response/row-encoder.ts` has the same numbers.
const resultAt: usize = 0;
const planAt: usize = 64;
const inputAt: usize = 64 * 1024;
const outputAt: usize = 192 * 1024;
const outputEnd: usize = 448 * 1024;

// The plan: the number of columns, the length of the suffix of a row, the most bytes of a row without its values, then 12 bytes for each
// column (kind, position of its prefix, length of its prefix), then the suffix.
const columnsAt: usize = planAt + 12;
const columnSize: usize = 12;

// The kinds of columns.
const numberKind: u32 = 0;
const booleanKind: u32 = 1;
const stringKind: u32 = 2;
const timestampKind: u32 = 3;
const timestamptzKind: u32 = 4;

/** A character of a string takes this many bytes at most: `\u001f`. */
const maxEscapedSize: usize = 6;
/** Bytes behind a text that a block of 16 bytes can overwrite. */
const slack: usize = 32;

const quote: u8 = 0x22;
const backslash: u8 = 0x5c;
const comma: u8 = 0x2c;
const colon: u8 = 0x3a;
const space: u8 = 0x20;

/**
 * Encodes the messages in the input, up to the first that is incomplete, does not fit into the output, or is not as the plan expects it.
 * Writes the number of bytes read and the number of rows to the result.
 * @param inputLength a message behind it is incomplete
 * @param separates whether a comma comes before the first row
 * @returns the number of bytes written
 */
export function encodeRows(inputLength: usize, separates: bool): usize {
  const inputEnd = inputAt + inputLength;
  const columns = load<u32>(planAt);
  const suffixLength: usize = load<u32>(planAt, 4);
  const maxFixedSize: usize = load<u32>(planAt, 8);
  const suffixAt = columnsAt + <usize>columns * columnSize;
  let from = inputAt;
  let to = outputAt;
  let rows: u32 = 0;
  // Type (1 byte), length (4), number of fields (2).
  while (from + 7 <= inputEnd && load<u8>(from) === 0x44) {
    const end = from + 1 + bswap<u32>(load<u32>(from, 1));
    if (end < from + 7 || end > inputEnd || bswap<u16>(load<u16>(from, 5)) !== columns) break;
    if (to + maxFixedSize + (end - from) * maxEscapedSize + slack > outputEnd) break;
    let at = to;
    if (separates || rows > 0) store<u8>(at++, comma);
    at = writeFields(at, from + 7, end, columns);
    if (at === 0) break;
    to = copy(at, suffixAt, suffixLength);
    from = end;
    rows++;
  }
  store<u32>(resultAt, <u32>(from - inputAt));
  store<u32>(resultAt, rows, 4);
  return to - outputAt;
}

/** Writes the columns of one row with their prefixes. Returns the end; 0 if the fields do not fill the message exactly. */
function writeFields(start: usize, fields: usize, end: usize, columns: u32): usize {
  let to = start;
  let from = fields;
  let column = columnsAt;
  const columnsEnd = columnsAt + <usize>columns * columnSize;
  for (; column < columnsEnd; column += columnSize) {
    if (from + 4 > end) return 0;
    const length = <i32>bswap<u32>(load<u32>(from));
    from += 4;
    to = copy(to, load<u32>(column, 4), load<u32>(column, 8));
    if (length === -1) {
      store<u32>(to, 0x6c6c756e); // null
      to += 4;
    } else {
      // An unsigned comparison: a negative length is too large.
      if (<usize>length > end - from) return 0;
      to = writeValue(load<u32>(column), to, from, length);
      from += length;
    }
  }
  return from === end ? to : 0;
}

function writeValue(kind: u32, to: usize, from: usize, length: usize): usize {
  switch (kind) {
    case numberKind:
      // `NaN` and `Infinity` end in a letter.
      return load<u8>(from + length - 1) > 0x39 ? writeString(to, from, length) : copy(to, from, length);
    case booleanKind:
      return writeBoolean(to, length > 0 && load<u8>(from) === 0x74);
    case stringKind:
      return writeString(to, from, length);
    case timestampKind:
      return writeTimestamp(to, from, length);
    case timestamptzKind:
      return writeTimestamptz(to, from, length);
    default:
      return copy(to, from, length);
  }
}

function copy(to: usize, from: usize, length: usize): usize {
  for (let offset: usize = 0; offset < length; offset += 16) v128.store(to + offset, v128.load(from + offset));
  return to + length;
}

function writeBoolean(to: usize, isTrue: bool): usize {
  if (isTrue) {
    store<u32>(to, 0x65757274); // true
    return to + 4;
  }
  store<u32>(to, 0x736c6166); // fals
  store<u8>(to + 4, 0x65); // e
  return to + 5;
}

/** Writes a JSON string with the escapes of PostgreSQL's `to_json`. */
function writeString(start: usize, text: usize, length: usize): usize {
  let to = start + 1;
  let from = text;
  const end = text + length;
  store<u8>(start, quote);
  while (from < end) {
    const rest = end - from;
    const block = v128.load(from);
    v128.store(to, block);
    const special = v128.or(
      v128.or(i8x16.eq(block, i8x16.splat(quote)), i8x16.eq(block, i8x16.splat(backslash))),
      i8x16.lt_u(block, i8x16.splat(space)),
    );
    let mask = i8x16.bitmask(special);
    if (rest < 16) mask &= (1 << (<i32>rest)) - 1;
    if (mask === 0) {
      // Branches, which the processor predicts: the next block does not wait for this one.
      if (rest <= 16) {
        to += rest;
        break;
      }
      to += 16;
      from += 16;
    } else {
      const size = <usize>ctz(mask);
      to = writeEscape(to + size, load<u8>(from + size));
      from += size + 1;
    }
  }
  store<u8>(to, quote);
  return to + 1;
}

function writeEscape(start: usize, byte: u8): usize {
  let to = start;
  const letter = escapeLetter(byte);
  store<u8>(to++, backslash);
  store<u8>(to++, letter);
  if (letter !== 0x75) return to;
  store<u16>(to, 0x3030);
  store<u8>(to + 2, 0x30 + (byte >> 4));
  store<u8>(to + 3, hexadecimalDigit(byte & 15));
  return to + 4;
}

/** Returns the letter after the backslash (RFC 8259, section 7): `u` for a number in four hexadecimal digits. */
function escapeLetter(byte: u8): u8 {
  switch (byte) {
    case quote:
    case backslash:
      return byte;
    case 0x08:
      return 0x62; // b
    case 0x09:
      return 0x74; // t
    case 0x0a:
      return 0x6e; // n
    case 0x0c:
      return 0x66; // f
    case 0x0d:
      return 0x72; // r
    default:
      return 0x75; // u
  }
}

function hexadecimalDigit(value: u8): u8 {
  return value < 10 ? 0x30 + value : 0x57 + value;
}

/** Writes PostgreSQL's ISO text of a timestamp, with a `T` for the first space. */
function writeTimestamp(to: usize, from: usize, length: usize): usize {
  store<u8>(to, quote);
  const end = copy(to + 1, from, length);
  for (let offset: usize = 0; offset < length; offset += 16) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(from + offset), i8x16.splat(space)));
    if (mask !== 0) {
      // A space behind the text is outside of the result.
      const at = offset + <usize>ctz(mask);
      if (at < length) store<u8>(to + 1 + at, 0x54); // T
      break;
    }
  }
  store<u8>(end, quote);
  return end + 1;
}

/** Writes a timestamp with time zone, and adds the minutes to an offset of hours: `…59+00` → `…59+00:00`. */
function writeTimestamptz(to: usize, from: usize, length: usize): usize {
  const end = from + length;
  const hoursEnd = findHoursEnd(from, end);
  if (hoursEnd === 0) return writeTimestamp(to, from, length);
  // Overwrites the closing quote, which follows after the minutes.
  let at = writeTimestamp(to, from, hoursEnd - from) - 1;
  store<u8>(at, colon);
  store<u16>(at + 1, 0x3030);
  at = copy(at + 3, hoursEnd, end - hoursEnd);
  store<u8>(at, quote);
  return at + 1;
}

/** Returns the end of an offset that has hours only, else 0. Its sign is the last one in the text. */
function findHoursEnd(start: usize, end: usize): usize {
  for (let at = end - 1; at > start; at--) {
    const byte = load<u8>(at);
    // An offset has two digits after the sign.
    if (byte === 0x2b || byte === 0x2d) {
      return at + 3 > end || (at + 3 < end && load<u8>(at + 3) === colon) ? 0 : at + 3;
    }
    // `infinity` has no offset.
    if (byte > 0x60) return 0;
  }
  return 0;
}
