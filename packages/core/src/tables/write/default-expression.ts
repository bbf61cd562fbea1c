/** Patterns of the text that `pg_get_expr` writes. */
const string = String.raw`(?:'(?:[^'\\]|'')*'|E'(?:[^'\\]|''|\\.)*')`;
const identifier = String.raw`(?:"(?:[^"]|"")+"|[a-z_][a-z0-9_$]*)`;
const qualified = String.raw`${identifier}(?:\.${identifier})?`;
const typeName = String.raw`(?:double precision|character varying|bit varying|(?:timestamp|time)(?:\(\d\))? with(?:out)? time zone|${qualified})`;
const cast = String.raw`::${typeName}(?:\(\d+(?:,-?\d+)?\))?(?:\[\])*`;
const keyword = String.raw`(?:CURRENT_(?:DATE|TIME|TIMESTAMP|USER|ROLE|CATALOG|SCHEMA)|LOCALTIME|LOCALTIMESTAMP|SESSION_USER|USER)(?:\(\d\))?`;
const constant = String.raw`(?:${string}|-?\d+(?:\.\d+)?|true|false|NULL|ARRAY\[\])`;
const call = String.raw`${qualified}\((?:${string}::(?:pg_catalog\.)?regclass)?\)`;
const value = String.raw`(?:${constant}|${keyword}|${call})`;
const selfContained = new RegExp(String.raw`^(?:${value}|\(${value}\))(?:${cast})*$`);

/** A string, the name of a type without schema, or that of a function. */
const names = new RegExp(String.raw`${string}|::(${identifier})(?![\w$".])|(?<=^\(?)(${identifier})(?=\()`, 'g');

/** Types whose names are words of the grammar: no type of another schema has them without quotes. */
const grammarTypes = new Set(
  'bigint bit boolean character double integer interval numeric real smallint time timestamp'.split(' '),
);

/**
 * Returns the default of a column with schemas before all names, so that it means the same in each session; null where it may not.
 * Constants, calls without arguments and the next value of a sequence, with casts, are possible. In another `search_path`, a function or an
 * operator of another schema may fit the types of arguments better than the one that is meant (PostgreSQL's documentation, "Type
 * Conversion"), and would run as the caller.
 * @param expression as `pg_get_expr` writes it with `pg_catalog` as `search_path`
 */
export function qualifyDefault(expression: string): string | null {
  if (!selfContained.test(expression)) return null;
  return expression.replace(names, (token: string, type?: string, routine?: string) => {
    if (type !== undefined) return grammarTypes.has(type) ? token : `::pg_catalog.${type}`;
    return routine === undefined ? token : `pg_catalog.${routine}`;
  });
}

const qualifiedSequenceCall = new RegExp(String.raw`^\(?(pg_catalog\.nextval\(${string}::pg_catalog\.regclass\))`);

/**
 * Returns the call of `nextval` in a default, without casts of its number; null for another default.
 * @param qualified as `qualifyDefault` returns it
 */
export function sequenceCall(qualified: string): string | null {
  return qualifiedSequenceCall.exec(qualified)?.[1] ?? null;
}
