/**
 * Tells whether roles may call routines and use tables: one row for each check, in order. The arrays: `$1` roles, NULL for the role of the
 * connection; `$2` schemas; `$3` names; `$4` the types of a routine's input parameters, a JSON array of SQL names; `$5` privileges, EXECUTE of a
 * routine and SELECT, INSERT, UPDATE or DELETE of a table or view.
 */
export const privilegesSql = `
select case
    when not pg_catalog.pg_has_role(grantee.oid, 'MEMBER') then false
    when not pg_catalog.has_schema_privilege(grantee.oid, space.oid, 'USAGE') then false
    when checked.privilege operator(pg_catalog.=) 'EXECUTE' then pg_catalog.has_function_privilege(grantee.oid, routine.oid, 'EXECUTE')
    when checked.privilege operator(pg_catalog.=) 'DELETE' then pg_catalog.has_table_privilege(grantee.oid, relation.oid, 'DELETE')
    else pg_catalog.has_any_column_privilege(grantee.oid, relation.oid, checked.privilege)
  end
from rows from (
    pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[]), pg_catalog.unnest($3::pg_catalog.text[]),
    pg_catalog.unnest($4::pg_catalog.text[]), pg_catalog.unnest($5::pg_catalog.text[])
  ) with ordinality as checked (role, schema, name, types, privilege, place)
  left join pg_catalog.pg_roles grantee
    on grantee.rolname operator(pg_catalog.=) coalesce(checked.role, current_user::pg_catalog.text)
  left join pg_catalog.pg_namespace space on space.nspname operator(pg_catalog.=) checked.schema
  left join pg_catalog.pg_proc routine
    on checked.privilege operator(pg_catalog.=) 'EXECUTE' and routine.pronamespace operator(pg_catalog.=) space.oid
    and routine.proname operator(pg_catalog.=) checked.name
    and routine.proargtypes operator(pg_catalog.=) pg_catalog.array_to_string(array(
      select coalesce(pg_catalog.to_regtype(type.name)::pg_catalog.oid, 0)
      from pg_catalog.json_array_elements_text(checked.types::pg_catalog.json) with ordinality as type (name, place)
      order by type.place), ' ')::pg_catalog.oidvector
  left join pg_catalog.pg_class relation
    on checked.privilege operator(pg_catalog.<>) 'EXECUTE' and relation.relnamespace operator(pg_catalog.=) space.oid
    and relation.relname operator(pg_catalog.=) checked.name
order by checked.place`;
