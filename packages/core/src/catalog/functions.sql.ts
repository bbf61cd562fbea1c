import { filterCondition, filterParameters } from './filters.sql.ts';
import { reachedTypes, typeRows } from './types.sql.ts';
import { inUserSchema } from './user-schema.sql.ts';

/**
 * Lists functions and procedures with all types that they refer to, in one statement, on PostgreSQL 13 and later.
 *
 * Excluded are:
 * - aggregates and window functions
 * - routines without a comment that use pseudo-types (triggers, polymorphic routines, `internal`), other than `void` and `record` results
 * - members of extensions, languages `c` and `internal`, `information_schema` and schemas `pg_*`
 *
 * Routines that the role of the connection may not execute are included: a request may run as another role. PostgreSQL checks the
 * privilege at the call.
 *
 * The parameters are those of `filterValues`. The columns are `kind` and `facts`; see `customFunctionsSql`.
 */
export const functionsSql: string = `with recursive listed as (
    select p.oid, p.proname, p.prokind, p.prorettype, p.proretset, p.prorows, p.proargnames, p.proargmodes, p.pronargdefaults,
      p.provolatile, p.proisstrict, n.nspname, l.lanname,
      coalesce(p.proallargtypes, p.proargtypes::oid[]) as types
    from pg_catalog.pg_proc p
      join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      join pg_catalog.pg_language l on l.oid = p.prolang
    where p.prokind in ('f', 'p')
    and ${inUserSchema('p.pronamespace')}
    and l.lanname::text not in ('internal', 'c')
    and ${filterCondition('n.nspname::text', 'p.proname::text')}
    and (not p.proargtypes::oid[] && array(select t.oid from pg_catalog.pg_type t where t.typtype = 'p')
      and p.prorettype <> all (array(
        select t.oid from pg_catalog.pg_type t where t.typtype = 'p' and t.typname::text not in ('void', 'record')))
      or exists (
        select from pg_catalog.pg_description d
        where d.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objoid = p.oid and d.objsubid = 0))
    and not exists (
      select from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objid = p.oid and d.deptype = 'e')
), wanted (oid) as (
    select listed.prorettype from listed union select pg_catalog.unnest(listed.types) from listed
), ${reachedTypes}
  ${typeRows}
union all
  select 'routine', pg_catalog.json_build_object(
    'kind', listed.prokind,
    'schema', listed.nspname,
    'name', listed.proname,
    'types', listed.types::int8[],
    'names', listed.proargnames,
    'modes', listed.proargmodes,
    'defaults', listed.pronargdefaults,
    'defaultExpressions', case when listed.pronargdefaults > 0 then (
      select pg_catalog.json_agg(pg_catalog.pg_get_function_arg_default(listed.oid, n) order by n)
      from pg_catalog.generate_series(1, pg_catalog.cardinality(listed.types)) as n
    ) end,
    'returns', listed.prorettype::int8,
    'set', listed.proretset,
    'rows', case when listed.proretset then listed.prorows::int4 end,
    'volatility', listed.provolatile,
    'strict', listed.proisstrict,
    'language', listed.lanname,
    'comment', d.description
  )::text
  from listed left join pg_catalog.pg_description d
    on d.objoid = listed.oid and d.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass and d.objsubid = 0`;

/** The same query with the CREATE statement of each routine. */
export const functionsWithDefinitionsSql: string = functionsSql.replace(
  "'comment', d.description",
  "'comment', d.description,\n    'definition', pg_catalog.pg_get_functiondef(listed.oid)",
);

/**
 * Wraps a custom query in place of the built-in one, for another choice of routines. The query is a `select`, `with … select` or
 * `values` statement. It may use the parameters of `filterValues`, and returns types and routines in any order, with two columns:
 *
 * - `kind`: `type` or `routine`
 * - `facts`: a JSON object (json, jsonb or text) with the members below. Type references are OIDs, as numbers or strings of digits.
 *   A nullable member may be missing.
 *
 * Facts of a routine:
 * - `kind`: `pg_proc.prokind`, `f` function or `p` procedure
 * - `schema`, `name`: not quoted
 * - `types`: array of the types of all parameters, `coalesce(proallargtypes, proargtypes)`
 * - `names`: array of their names, `""` for an unnamed one, or null: `proargnames`
 * - `modes`: array of their modes, `i` in, `o` out, `b` inout, `v` variadic, `t` table, or null when all are in: `proargmodes`
 * - `defaults`: how many of the input parameters, counted from the last, have a default: `pronargdefaults`
 * - `defaultExpressions`: array of the default of each parameter in SQL, or null: `pg_get_function_arg_default(oid, n)`; only for display
 * - `returns`, `set`: type of the result, and whether it is a set: `prorettype`, `proretset`
 * - `volatility`: `i`, `s` or `v`: `provolatile`
 * - `strict`: true or false: `proisstrict`
 * - `language`: `pg_language.lanname`
 * - `comment`: `obj_description(oid, 'pg_proc')`, or null
 * - `definition`: `pg_get_functiondef(oid)`, or null; only generators need it
 *
 * Facts of a type; each referenced type needs a row:
 * - `oid`, `schema`, `name`: `pg_type.oid`, its schema, `typname`
 * - `display`: `format_type(oid, null)`
 * - `kind`: `typtype`, `b` base, `c` composite, `d` domain, `e` enum, `p` pseudo, `r` range, `m` multirange
 * - `category`: `typcategory`; `S` means a string type, for which an empty string is a valid value
 * - `base`: type under a domain, else null: `typbasetype`
 * - `delimiter`: the delimiter in array literals, null for a comma: `nullif(typdelim, ',')`
 * - `element`: type of an array's elements, else null: `typelem`
 * - `fields`: of a composite, else null: array of objects with `name`, `type` and `display` (null, or the type with its
 *   modifiers, `character varying(10)`)
 * - `labels`: of an enum, in order, else null
 * - `castToJson`: true when it is not built in and a function casts it to json
 * - `isRequest`: true for a composite type whose comment begins with an HTTP request, else null or absent
 */
export function customFunctionsSql(query: string): string {
  // The subquery declares the types of all parameters, so that the custom query may omit any of them.
  return `select custom.kind, custom.facts from (select ${filterParameters}) as filters, (
${query.replace(/[;\s]+$/, '')}
) as custom`;
}
