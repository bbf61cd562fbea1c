/** The conversion of the values of a column to another type. */
import { type ConversionEffects, effectsOf, failing } from './conversion-effects.ts';
import { type Domains, resolveDomain } from './domains.ts';
import { elementType, isRecord, type Records } from './records.ts';
import { hasRoom, isText, parseType, type TypeName } from './type-name.ts';

export interface Conversion extends ConversionEffects {
  /** The expression of `USING`. */
  readonly expression: string;
  /** The statements that come before and after that with the expression. */
  readonly setup: readonly string[];
  readonly teardown: readonly string[];
  /** Whether the rows are written again: the new type has another binary form, or values that have to be verified. */
  readonly rewrites: boolean;
}

interface ConvertedColumn {
  /** The name of the column, quoted. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** Whether only the collation changes. */
  readonly isCollation: boolean;
}

export interface ConversionTypes {
  /** The method of each cast (`b`: no conversion is needed), as `source target`. */
  readonly casts: ReadonlyMap<string, string>;
  readonly current: Domains;
  readonly wanted: Domains;
  readonly records: Records;
}

/** Types without a cast are converted by their text, as are those that are created again. */
export function convert(column: ConvertedColumn, types: ConversionTypes): Conversion {
  const { name, from, to, isCollation } = column;
  if (isCollation) {
    return { ...plain, expression: `${name}::${to}`, canLose: false, canFail: false, rewrites: false };
  }
  if (from === to && isRecord(from, types.records)) return convertRecord(column, types);
  const [before, after] = [resolveDomain(from, types.current), resolveDomain(to, types.wanted)];
  const [source, target] = [parseType(before.type), parseType(after.type)];
  // A type with the same name is created again, except those of PostgreSQL.
  const isRecreated = before.type === after.type && before.type.includes('.');
  const hasCast = !isRecreated && canCast(source, target, types.casts);
  const { canLose, canFail } = isRecreated ? failing : effectsOf({ source, target, hasCast });
  return {
    ...plain,
    expression: hasCast ? `${name}::${to}` : `${name}::text::${to}`,
    canLose,
    canFail: canFail || after.isConstrained,
    rewrites: after.isConstrained || !(hasCast ? hasSameForm : isTextInForm)(source, target, types.casts),
  };
}

const plain = { setup: [], teardown: [] } as const;

/** The fields are matched by their names. The values can be JSON already. */
function convertRecord({ name, to }: ConvertedColumn, types: ConversionTypes): Conversion {
  const { before, after } = types.records.get(elementType(to))!;
  const canLose = before.some((field) => {
    const next = after.find((other) => other.name === field.name);
    if (next === undefined) return true;
    // A record can contain itself in an array.
    if (next.type === field.type) return false;
    return convert({ name, from: field.type, to: next.type, isCollation: false }, types).canLose;
  });
  const effects = { canLose, canFail: true, rewrites: true };
  const json = `pg_catalog.to_jsonb(${name})`;
  if (elementType(to) === to) {
    return { ...plain, ...effects, expression: `pg_catalog.jsonb_populate_record(NULL::${to}, ${json})` };
  }
  // An array is the field of a record.
  const wrapper = 'pg_temp.pgscout_array';
  return {
    ...effects,
    setup: [`CREATE TYPE ${wrapper} AS (items ${to})`],
    expression: `(pg_catalog.jsonb_populate_record(NULL::${wrapper}, pg_catalog.jsonb_build_object('items', ${json}))).items`,
    teardown: [`DROP TYPE ${wrapper}`],
  };
}

function canCast(source: TypeName, target: TypeName, casts: ConversionTypes['casts']): boolean {
  if (source.dimensions !== target.dimensions) return false;
  const isKnown = source.base === target.base || casts.has(`${source.base} ${target.base}`);
  return isKnown || isText(source.base) || isText(target.base);
}

/** Whether both types have the binary form of text, through which the values are converted. */
function isTextInForm(from: TypeName, to: TypeName, casts: ConversionTypes['casts']): boolean {
  if (from.dimensions !== '' || to.dimensions !== '' || to.modifiers.length > 0) return false;
  return casts.get(`${from.base} text`) === 'b' && casts.get(`text ${to.base}`) === 'b';
}

/** Whether PostgreSQL keeps the rows as they are. It writes arrays again. */
function hasSameForm(from: TypeName, to: TypeName, casts: ConversionTypes['casts']): boolean {
  if (from.dimensions !== '' || to.dimensions !== '') return false;
  if (from.base !== to.base) return to.modifiers.length === 0 && casts.get(`${from.base} ${to.base}`) === 'b';
  if (!hasRoom(from, to)) return false;
  const [, scale] = from.modifiers;
  const hasScale = from.base !== 'numeric' || to.modifiers.length === 0 || scale === to.modifiers[1];
  // A fixed length is part of each value.
  return hasScale && (!['character', 'bit'].includes(from.base) || from.modifiers[0] === to.modifiers[0]);
}
