import { reachedTypes, typeRows } from './types.sql.ts';

/** Lists the types that names stand for, with every type that they reach. `$1` is a JSON array of names. */
export const typesByNameSql: string = `with recursive named (name, oid) as (
    select n.name, pg_catalog.to_regtype(n.name)::oid
    from pg_catalog.json_array_elements_text($1::pg_catalog.json) n (name)
), wanted (oid) as (
    select named.oid from named where named.oid is not null
), ${reachedTypes}
  ${typeRows}
union all
  select 'name', pg_catalog.json_build_object('name', named.name, 'oid', named.oid::int8)::text from named`;
