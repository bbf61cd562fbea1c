/** The body of an SQL function as statements with `$1` in place of named parameters. */
import type { Routine } from './facts.ts';

/** Comments, strings, quoted and plain names with their qualifiers, and single characters. */
const part =
  /--[^\n]*|\/\*[^]*?\*\/|E'(?:[^'\\]|''|\\[^])*'|'(?:[^']|'')*'|\$([\p{L}_][\p{L}\p{N}_]*)?\$[^]*?\$\1\$|(?:(?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)\s*\.\s*)*(?:"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*)|[^]/giu;

const namePattern = /"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*/gu;

/**
 * Replaces the names of parameters. A name that is also that of a column is the column, unless the name of the function qualifies it:
 * PostgreSQL manual, "Arguments for SQL Functions".
 * @param columns the names of all columns
 */
export function numberParameters(
  body: string,
  { name, argumentNames }: Pick<Routine, 'name' | 'argumentNames'>,
  columns: ReadonlySet<string>,
): string {
  return body.replace(part, (text, _tag, offset: number) => {
    if (!/^["\p{L}_]/u.test(text) || /^E'/i.test(text)) return text;
    const names = (text.match(namePattern) ?? []).map(plainName);
    const isQualified = names.length > 1 && names[0] === name;
    const [parameter, ...fields] = isQualified ? names.slice(1) : names;
    const position = argumentNames.indexOf(parameter!);
    const isUnknown = parameter === '' || position === -1 || (columns.has(parameter!) && !isQualified);
    if (isUnknown || isArgumentName(body.slice(offset + text.length))) return text;
    const access = fields.map((field) => `."${field.replaceAll('"', '""')}"`).join('');
    return access === '' ? `$${position + 1}` : `($${position + 1})${access}`;
  });
}

/** Whether a name is followed by `=>`, or is that of a function. */
function isArgumentName(rest: string): boolean {
  return /^\s*(?:=>|\()/.test(rest);
}

function plainName(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text.toLowerCase();
}
