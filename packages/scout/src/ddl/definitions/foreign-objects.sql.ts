/** Foreign data wrappers, servers and user mappings. */
import { defaultAclSql, privilegesSql, roleSql } from '../privileges.ts';
import type { SimpleQuery } from './simple-query.ts';

const wrappersSql = `
select w.oid::text as oid, format('FOREIGN DATA WRAPPER %I', w.fdwname) as target, format('FOREIGN DATA WRAPPER %I', w.fdwname) as "grantTarget",
  array[format('CREATE FOREIGN DATA WRAPPER %I', w.fdwname)
    || case when w.fdwhandler <> 0 then ' HANDLER ' || w.fdwhandler::regproc::text else '' end
    || case when w.fdwvalidator <> 0 then ' VALIDATOR ' || w.fdwvalidator::regproc::text else '' end] as statements,
  format('ALTER FOREIGN DATA WRAPPER %I', w.fdwname) as alter, w.fdwoptions as options,
  ${roleSql('w.fdwowner')} as owner, ${privilegesSql('w.fdwacl', defaultAclSql('F', 'w.fdwowner'), 'w.fdwowner')} as privileges
from pg_catalog.pg_foreign_data_wrapper w where w.oid = any($1::oid[])`;

const serversSql = `
select s.oid::text as oid, format('SERVER %I', s.srvname) as target, format('FOREIGN SERVER %I', s.srvname) as "grantTarget",
  array[format('CREATE SERVER %I%s%s FOREIGN DATA WRAPPER %I', s.srvname, coalesce(' TYPE ' || quote_literal(s.srvtype), ''),
    coalesce(' VERSION ' || quote_literal(s.srvversion), ''), w.fdwname)] as statements,
  format('ALTER SERVER %I', s.srvname) as alter, s.srvoptions as options,
  ${roleSql('s.srvowner')} as owner, ${privilegesSql('s.srvacl', defaultAclSql('S', 's.srvowner'), 's.srvowner')} as privileges
from pg_catalog.pg_foreign_server s join pg_catalog.pg_foreign_data_wrapper w on w.oid = s.srvfdw where s.oid = any($1::oid[])`;

/** The options have passwords: only their owner and superusers see them, and they are not printed. */
const userMappingsSql = `
select m.umid::text as oid, null as target,
  format('DROP USER MAPPING FOR %s SERVER %I', case m.umuser when 0 then 'PUBLIC' else quote_ident(m.usename) end, m.srvname) as drop,
  array[format('CREATE USER MAPPING FOR %s SERVER %I', case m.umuser when 0 then 'PUBLIC' else quote_ident(m.usename) end, m.srvname)] as statements,
  format('ALTER USER MAPPING FOR %s SERVER %I', case m.umuser when 0 then 'PUBLIC' else quote_ident(m.usename) end, m.srvname) as alter,
  array(select o from unnest(m.umoptions) o where split_part(o, '=', 1) not in ('password', 'sslpassword')) as options
from pg_catalog.pg_user_mappings m where m.umid = any($1::oid[])`;

export const foreignObjectQueries: readonly SimpleQuery[] = [
  { catalog: 'pg_foreign_data_wrapper', sql: wrappersSql },
  { catalog: 'pg_foreign_server', sql: serversSql },
  { catalog: 'pg_user_mapping', sql: userMappingsSql },
];
