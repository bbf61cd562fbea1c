/** Types whose input and output are functions. */
import { quoteLiteral } from '../sql-text.ts';

export interface BaseType {
  readonly oid: string;
  readonly options: readonly string[];
  readonly category: string;
  readonly isPreferred: boolean;
  readonly defaultText: string | null;
  readonly delimiter: string;
}

/** A shell type has the kind of a pseudo type. */
export const baseTypesSql = `
select t.oid::text as oid, t.typcategory::text as category, t.typispreferred as "isPreferred", t.typdefault as "defaultText", t.typdelim::text as delimiter,
  array_remove(array[
    'INPUT = ' || t.typinput::regproc::text,
    'OUTPUT = ' || t.typoutput::regproc::text,
    case when t.typreceive <> 0 then 'RECEIVE = ' || t.typreceive::regproc::text end,
    case when t.typsend <> 0 then 'SEND = ' || t.typsend::regproc::text end,
    case when t.typmodin <> 0 then 'TYPMOD_IN = ' || t.typmodin::regproc::text end,
    case when t.typmodout <> 0 then 'TYPMOD_OUT = ' || t.typmodout::regproc::text end,
    case when t.typanalyze <> 0 then 'ANALYZE = ' || t.typanalyze::regproc::text end,
    'INTERNALLENGTH = ' || case t.typlen when -1 then 'VARIABLE' else t.typlen::text end,
    case when t.typbyval then 'PASSEDBYVALUE' end,
    'ALIGNMENT = ' || case t.typalign when 'c' then 'char' when 's' then 'int2' when 'i' then 'int4' else 'double' end,
    'STORAGE = ' || case t.typstorage when 'p' then 'plain' when 'e' then 'external' when 'x' then 'extended' else 'main' end,
    case when t.typelem <> 0 then 'ELEMENT = ' || pg_catalog.format_type(t.typelem, null) end,
    case when t.typcollation <> 0 then 'COLLATABLE = true' end], null) as options
from pg_catalog.pg_type t where t.oid = any($1::oid[]) and t.typtype = 'b'`;

export function baseTypeOptions({
  options,
  category,
  isPreferred,
  defaultText,
  delimiter,
}: BaseType): readonly string[] {
  return [
    ...options,
    ...(category === 'U' ? [] : [`CATEGORY = ${quoteLiteral(category)}`]),
    ...(isPreferred ? ['PREFERRED = true'] : []),
    ...(defaultText === null ? [] : [`DEFAULT = ${quoteLiteral(defaultText)}`]),
    ...(delimiter === ',' ? [] : [`DELIMITER = ${quoteLiteral(delimiter)}`]),
  ];
}
