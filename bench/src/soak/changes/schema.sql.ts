export const tenants = 10;
/** Keys are reused. */
export const keys = 400;

const tenantOfCaller = `tenant = (current_setting('request.jwt.claims', true)::json ->> 'tenant')::integer`;
/** The conditions that the policy has in turn. */
export const policies: readonly string[] = [tenantOfCaller, `${tenantOfCaller} and not hidden`];

/** A table whose rows each caller sees by its tenant. */
export function changesSchemaSql(gateway: string, reader: string): string {
  return `
    alter role ${gateway} replication;
    create schema live;
    grant usage on schema live to public;
    create table live.item (id integer primary key, tenant integer not null, hidden boolean not null, number integer not null, note text);
    insert into live.item select n, n % ${tenants}, n % 7 = 0, n, 'note ' || n from generate_series(1, ${keys / 2}) as n;
    alter table live.item enable row level security;
    create policy visible on live.item for select using (${policies[0]!});
    grant select on live.item to ${reader};
    comment on table live.item is 'HTTP
authorize
user_context
changes
changes old';
    create publication pgway_changes for table live.item;`;
}

/** A transaction with one to four statements. */
export function writeSql(integer: (from: number, to: number) => number): string {
  const key = (): number => integer(1, keys);
  const tenant = (): number => integer(0, tenants - 1);
  const statements = Array.from({ length: integer(1, 4) }, () => {
    switch (integer(0, 6)) {
      case 0:
        return `insert into live.item values (${key()}, ${tenant()}, ${integer(0, 1) === 1}, ${integer(0, 999)}) on conflict (id) do nothing`;
      case 1:
        return `delete from live.item where id = ${key()}`;
      case 2:
        return `update live.item set tenant = ${tenant()} where id = ${key()}`;
      case 3:
        return `update live.item set id = ${key()} where id = ${key()} and not exists (select from live.item where id = ${key()})`;
      case 4:
        return `update live.item set hidden = not hidden where id between ${key()} and ${key()}`;
      default:
        return `update live.item set number = ${integer(0, 999)} where id in (${key()}, ${key()}, ${key()})`;
    }
  });
  return statements.join('; ');
}

/** Definitions that change while streams are open, each with the statement that undoes it. */
export const definitions: readonly (readonly [change: string, undo: string])[] = [
  ['alter table live.item add column extra text', 'alter table live.item drop column extra'],
  ['alter table live.item alter column number type bigint', 'alter table live.item alter column number type integer'],
  ['alter table live.item rename column note to remark', 'alter table live.item rename column remark to note'],
  ['alter table live.item add column extra float default random()', 'alter table live.item drop column extra'],
];
