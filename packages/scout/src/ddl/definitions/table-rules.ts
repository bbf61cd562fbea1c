/** Triggers, rules, policies and extended statistics of tables. */
import type { CatalogSource } from '../catalog-source.ts';
import { createItem, type Item } from '../item.ts';
import { ownerStatements, roleSql } from '../privileges.ts';
import { type TriggerState, triggerStates } from './trigger-state.ts';

interface TableRule {
  readonly oid: string;
  readonly name: string;
  readonly table: string;
  readonly tableOid: string;
  readonly definition: string;
  readonly state: TriggerState;
}

const tableSql = (table: string): string => `
  join pg_catalog.pg_class c on c.oid = ${table}
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace`;

const triggersSql = `
select t.oid::text as oid, quote_ident(t.tgname) as name, format('%I.%I', n.nspname, c.relname) as table, c.oid::text as "tableOid",
  pg_catalog.pg_get_triggerdef(t.oid) as definition, t.tgenabled::text as state,
  (select k.oid::text from pg_catalog.pg_constraint k where k.oid = t.tgconstraint) as constraint
from pg_catalog.pg_trigger t ${tableSql('t.tgrelid')}
where t.oid = any($1::oid[])`;

const rulesSql = `
select r.oid::text as oid, quote_ident(r.rulename) as name, format('%I.%I', n.nspname, c.relname) as table, c.oid::text as "tableOid",
  pg_catalog.pg_get_ruledef(r.oid) as definition, r.ev_enabled::text as state
from pg_catalog.pg_rewrite r ${tableSql('r.ev_class')}
where r.oid = any($1::oid[])`;

function stateStatements(rule: TableRule, kind: 'TRIGGER' | 'RULE'): readonly string[] {
  return rule.state === 'O' ? [] : [`ALTER TABLE ${rule.table} ${triggerStates[rule.state]} ${kind} ${rule.name}`];
}

function ruleItem(catalog: string, kind: 'TRIGGER' | 'RULE', rule: TableRule): Item {
  const { oid, name, table, tableOid, definition } = rule;
  return createItem({
    key: `${catalog}/${oid}`,
    target: `${kind} ${name} ON ${table}`,
    requires: [`pg_class/${tableOid}`],
    statements: [definition.replace(/;$/, ''), ...stateStatements(rule, kind)],
  });
}

export async function readTriggers(source: CatalogSource): Promise<readonly Item[]> {
  const rows = await source.read<TableRule>('pg_trigger', triggersSql);
  return rows.map((trigger) => ruleItem('pg_trigger', 'TRIGGER', trigger));
}

export async function readRules(source: CatalogSource): Promise<readonly Item[]> {
  const rows = await source.read<TableRule>('pg_rewrite', rulesSql);
  return rows.map((rule) => ruleItem('pg_rewrite', 'RULE', rule));
}

interface Policy {
  readonly oid: string;
  readonly name: string;
  readonly table: string;
  readonly isPermissive: boolean;
  readonly command: keyof typeof commands;
  readonly roles: readonly string[];
  readonly using: string | null;
  readonly check: string | null;
}

const commands = { '*': '', r: ' FOR SELECT', a: ' FOR INSERT', w: ' FOR UPDATE', d: ' FOR DELETE' } as const;

const policiesSql = `
select p.oid::text as oid, quote_ident(p.polname) as name, format('%I.%I', n.nspname, c.relname) as table, p.polpermissive as "isPermissive",
  p.polcmd::text as command, array(select case r when 0 then 'PUBLIC' else ${roleSql('r')} end from unnest(p.polroles) r) as roles,
  pg_catalog.pg_get_expr(p.polqual, p.polrelid) as using, pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) as check
from pg_catalog.pg_policy p ${tableSql('p.polrelid')}
where p.oid = any($1::oid[])`;

export async function readPolicies(source: CatalogSource): Promise<readonly Item[]> {
  const rows = await source.read<Policy>('pg_policy', policiesSql);
  return rows.map(({ oid, name, table, isPermissive, command, roles, using, check }) =>
    createItem({
      key: `pg_policy/${oid}`,
      target: `POLICY ${name} ON ${table}`,
      statements: [
        [
          `CREATE POLICY ${name} ON ${table}${isPermissive ? '' : ' AS RESTRICTIVE'}${commands[command]}`,
          ...(roles.length === 1 && roles[0] === 'PUBLIC' ? [] : [` TO ${roles.join(', ')}`]),
          ...(using === null ? [] : [`\n    USING (${using})`]),
          ...(check === null ? [] : [`\n    WITH CHECK (${check})`]),
        ].join(''),
      ],
    }),
  );
}

interface Statistics {
  readonly oid: string;
  readonly name: string;
  readonly definition: string;
  /** As in the definition. */
  readonly columns: readonly string[];
  readonly target: number | null;
  readonly owner: string;
}

const statisticsSql = `
select s.oid::text as oid, format('%I.%I', n.nspname, s.stxname) as name, pg_catalog.pg_get_statisticsobjdef(s.oid) as definition,
  array(select quote_ident(a.attname) from pg_catalog.pg_attribute a where a.attrelid = s.stxrelid and a.attnum = any(s.stxkeys)
    order by a.attnum) as columns,
  nullif(s.stxstattarget, -1) as target, ${roleSql('s.stxowner')} as owner
from pg_catalog.pg_statistic_ext s join pg_catalog.pg_namespace n on n.oid = s.stxnamespace
where s.oid = any($1::oid[])`;

export async function readStatistics(source: CatalogSource): Promise<readonly Item[]> {
  const rows = await source.read<Statistics>('pg_statistic_ext', statisticsSql);
  return rows.map(({ oid, name, definition, columns, target, owner }) => {
    const targets = target === null ? [] : [`ALTER STATISTICS ${name} SET STATISTICS ${target}`];
    // PostgreSQL prints the columns in the order of the table.
    const sorted = definition.replace(columns.join(', '), () => columns.toSorted().join(', '));
    return createItem({
      key: `pg_statistic_ext/${oid}`,
      target: `STATISTICS ${name}`,
      structure: { kind: 'statistics', sorted: [sorted, ...targets] },
      statements: [definition, ...targets],
      owner: ownerStatements(`STATISTICS ${name}`, owner),
    });
  });
}
