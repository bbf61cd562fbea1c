/** Functions, procedures and aggregates. */
import type { CatalogSource } from '../catalog-source.ts';
import { createItem, type Item } from '../item.ts';
import {
  defaultAclSql,
  objectGrants,
  ownerStatements,
  type Privileges,
  privilegesSql,
  roleSql,
} from '../privileges.ts';
import { quoteLiteral } from '../sql-text.ts';

interface Routine {
  readonly oid: string;
  /** With the arguments that identify it. */
  readonly signature: string;
  readonly kind: 'f' | 'p' | 'a' | 'w';
  /** Null for aggregates. */
  readonly definition: string | null;
  readonly fixedPart: string;
  readonly defaults: number;
  readonly owner: string;
  readonly privileges: Privileges | null;
}

const kinds = { f: 'FUNCTION', w: 'FUNCTION', p: 'PROCEDURE', a: 'AGGREGATE' } as const;

const routinesSql = `
select p.oid::text as oid, p.prokind::text as kind,
  format('%I.%I(%s)', n.nspname, p.proname, case when p.prokind = 'a' and p.pronargs = 0 then '*'
    else pg_catalog.pg_get_function_identity_arguments(p.oid) end) as signature,
  case when p.prokind <> 'a' then pg_catalog.pg_get_functiondef(p.oid) end as definition,
  concat_ws(' ', p.prokind, pg_catalog.pg_get_function_result(p.oid), p.proargnames::text, p.proargmodes::text,
    (select string_agg(pg_catalog.format_type(a.type, null), ', ' order by a.number)
      from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality a (type, number))) as "fixedPart",
  p.pronargdefaults::int as defaults,
  ${roleSql('p.proowner')} as owner, ${privilegesSql('p.proacl', defaultAclSql('f', 'p.proowner'), 'p.proowner')} as privileges
from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where p.oid = any($1::oid[])`;

interface Aggregate {
  readonly oid: string;
  readonly options: readonly string[];
  readonly initial: string | null;
  readonly movingInitial: string | null;
}

/** `x` and `w` in the finalmodify columns: shareable or read-write. The default of ordered-set aggregates is read-write. */
const modifySql = (column: string, name: string): string =>
  `case when a.${column} <> case a.aggkind when 'n' then 'r' else 'w' end
    then '${name} = ' || case a.${column} when 'r' then 'READ_ONLY' when 's' then 'SHAREABLE' else 'READ_WRITE' end end`;
const procedureSql = (column: string, name: string): string =>
  `case when a.${column} <> 0 then '${name} = ' || a.${column}::regproc::text end`;

const aggregatesSql = `
select a.aggfnoid::oid::text as oid, a.agginitval as initial, a.aggminitval as "movingInitial", array_remove(array[
    'SFUNC = ' || a.aggtransfn::regproc::text,
    'STYPE = ' || pg_catalog.format_type(a.aggtranstype, null),
    case when a.aggtransspace <> 0 then 'SSPACE = ' || a.aggtransspace end,
    ${procedureSql('aggfinalfn', 'FINALFUNC')},
    case when a.aggfinalextra then 'FINALFUNC_EXTRA' end,
    case when a.aggfinalfn <> 0 then ${modifySql('aggfinalmodify', 'FINALFUNC_MODIFY')} end,
    ${procedureSql('aggcombinefn', 'COMBINEFUNC')},
    ${procedureSql('aggserialfn', 'SERIALFUNC')},
    ${procedureSql('aggdeserialfn', 'DESERIALFUNC')},
    ${procedureSql('aggmtransfn', 'MSFUNC')},
    ${procedureSql('aggminvtransfn', 'MINVFUNC')},
    case when a.aggmtranstype <> 0 then 'MSTYPE = ' || pg_catalog.format_type(a.aggmtranstype, null) end,
    case when a.aggmtransspace <> 0 then 'MSSPACE = ' || a.aggmtransspace end,
    ${procedureSql('aggmfinalfn', 'MFINALFUNC')},
    case when a.aggmfinalextra then 'MFINALFUNC_EXTRA' end,
    case when a.aggmfinalfn <> 0 then ${modifySql('aggmfinalmodify', 'MFINALFUNC_MODIFY')} end,
    case when a.aggsortop <> 0 then (select format('SORTOP = OPERATOR(%I.%s)', n.nspname, o.oprname)
      from pg_catalog.pg_operator o join pg_catalog.pg_namespace n on n.oid = o.oprnamespace where o.oid = a.aggsortop) end,
    case p.proparallel when 's' then 'PARALLEL = SAFE' when 'r' then 'PARALLEL = RESTRICTED' end,
    case a.aggkind when 'h' then 'HYPOTHETICAL' end], null) as options
from pg_catalog.pg_aggregate a join pg_catalog.pg_proc p on p.oid = a.aggfnoid
where a.aggfnoid::oid = any($1::oid[])`;

export async function readRoutines(source: CatalogSource): Promise<readonly Item[]> {
  const routines = await source.read<Routine>('pg_proc', routinesSql);
  const aggregates = await source.read<Aggregate>('pg_proc', aggregatesSql);
  return routines.map((routine) => {
    const { oid, signature, kind } = routine;
    const target = `${kinds[kind]} ${signature}`;
    const aggregate = aggregates.find((candidate) => candidate.oid === oid);
    return createItem({
      key: `pg_proc/${oid}`,
      target,
      structure:
        aggregate === undefined
          ? { kind: 'routine', routine: { signature: routine.fixedPart, defaults: routine.defaults } }
          : null,
      statements: [aggregate === undefined ? routine.definition!.trim() : aggregateStatement(signature, aggregate)],
      owner: ownerStatements(target, routine.owner),
      grants: objectGrants(kind === 'p' ? target : `FUNCTION ${signature.replace('(*)', '()')}`, routine.privileges),
    });
  });
}

function aggregateStatement(signature: string, { options, initial, movingInitial }: Aggregate): string {
  const all = [
    ...options,
    ...(initial === null ? [] : [`INITCOND = ${quoteLiteral(initial)}`]),
    ...(movingInitial === null ? [] : [`MINITCOND = ${quoteLiteral(movingInitial)}`]),
  ];
  return `CREATE AGGREGATE ${signature} (\n${all.map((option) => `    ${option}`).join(',\n')}\n)`;
}
