/** What a conversion between types of PostgreSQL does to values that the new type cannot hold. */
import { isText, isWidening, type TypeName } from './type-name.ts';

export interface ConversionEffects {
  /** Whether values can become shorter, less precise or another value. */
  readonly canLose: boolean;
  /** Whether values can have no counterpart of the new type. */
  readonly canFail: boolean;
}

const safe: ConversionEffects = { canLose: false, canFail: false };
export const failing: ConversionEffects = { canLose: false, canFail: true };
const losing: ConversionEffects = { canLose: true, canFail: false };
const both: ConversionEffects = { canLose: true, canFail: true };

interface Cast {
  readonly source: TypeName;
  readonly target: TypeName;
  readonly hasCast: boolean;
}

export function effectsOf({ source, target, hasCast }: Cast): ConversionEffects {
  if (isWidening(source, target)) return safe;
  const isParsed = source.dimensions !== target.dimensions;
  if (!isParsed && isText(target.base)) return losing;
  if (isParsed || isText(source.base) || !hasCast) return target.modifiers.length > 0 ? both : failing;
  return castEffects(source, target);
}

function castEffects(source: TypeName, target: TypeName): ConversionEffects {
  if (isNumber(source.base) && isNumber(target.base)) return numberEffects(source, target);
  const isCut = source.base === target.base || target.base === 'boolean';
  return isCut || (isTime(source.base) && isTime(target.base)) ? losing : both;
}

const isTime = (base: string): boolean => /^(?:date|time|interval)/.test(base);

/** The decimal digits of integers. */
const integers: Readonly<Record<string, number>> = { smallint: 5, integer: 10, bigint: 19 };
const isNumber = (base: string): boolean =>
  base in integers || base === 'numeric' || base === 'real' || base === 'double precision';

function numberEffects(source: TypeName, target: TypeName): ConversionEffects {
  const digits = integers[source.base];
  if (target.base in integers) return digits === undefined ? both : failing;
  if (target.base !== 'numeric') return digits === undefined ? both : losing;
  return digits === undefined ? decimalEffects(source, target) : decimalOfInteger(digits, target);
}

function decimalOfInteger(digits: number, { modifiers: [size = 0, scale = 0] }: TypeName): ConversionEffects {
  return { canLose: scale < 0, canFail: size - scale < digits };
}

function decimalEffects(source: TypeName, { modifiers: [size = 0, scale = 0] }: TypeName): ConversionEffects {
  if (source.base !== 'numeric') return both;
  const [oldSize = Infinity, oldScale = 0] = source.modifiers;
  const canLose = source.modifiers.length === 0 || scale < oldScale;
  const room = size - scale - (oldSize - oldScale);
  // A rounded value can need one digit more.
  return { canLose, canFail: room < 0 || (room === 0 && canLose) };
}
