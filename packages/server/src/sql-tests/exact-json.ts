/** JSON whose numbers keep all digits. */
import { documentSlice, type JsonSlice, readElements, readMembers, sliceToJson } from '@pgway/core/internal';

/** A number that a double cannot represent. */
export class ExactNumber {
  /** The number as a decimal with an exponent, the same for all spellings of its value. */
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }

  /** Stands for the number until `toJsonText` removes the mark. */
  toJSON(): string {
    return mark + this.value + mark;
  }
}

const mark = '\u0000';
const marked = /"\\u0000([^"\\]*)\\u0000"/g;

/** Returns the value of a JSON text; undefined when it is not valid. */
export function parseExact(text: string): unknown {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  // Slices do not check the text.
  return toValue(documentSlice(text));
}

export function toJsonText(value: unknown, indentation?: number): string {
  return JSON.stringify(value, null, indentation).replaceAll(marked, '$1');
}

function toValue(slice: JsonSlice): unknown {
  switch (slice.kind) {
    case 'array':
      return readElements(slice).map(toValue);
    case 'object':
      // As JSON.parse: `__proto__` is a member like the others.
      return Object.fromEntries(Array.from(readMembers(slice), ([key, value]) => [key, toValue(value)]));
    case 'number':
      return toNumber(sliceToJson(slice));
    default:
      return JSON.parse(sliceToJson(slice)) as unknown;
  }
}

/** Zero has no sign. */
function toNumber(text: string): number | ExactNumber {
  const number = Number(text);
  const value = normalize(text);
  return Number.isFinite(number) && normalize(String(number)) === value ? number + 0 : new ExactNumber(value);
}

/** Returns the digits without zeros at their ends, and their exponent. */
function normalize(text: string): string {
  const {
    sign,
    whole,
    fraction = '',
    exponent = '0',
  } = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<fraction>\d+))?(?:e(?<exponent>[+-]?\d+))?$/i.exec(text)!.groups! as {
    readonly sign: string;
    readonly whole: string;
    readonly fraction?: string;
    readonly exponent?: string;
  };
  const digits = (whole + fraction).replace(/^0+/, '');
  const short = digits.replace(/0+$/, '');
  if (short === '') return '0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - short.length);
  return power === 0n ? sign + short : `${sign}${short}e${power}`;
}
