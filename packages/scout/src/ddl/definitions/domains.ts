import { createItem, type Item } from '../item.ts';
import { objectGrants, ownerStatements } from '../privileges.ts';
import type { DomainConstraint, TypeRow } from '../structure.ts';

export const domainConstraintsSql = `
select k.oid::text as oid, k.contypid::text as type, quote_ident(k.conname) as name, k.conname::text as "plainName",
  k.contype = 'n' as "isNotNull", pg_catalog.pg_get_constraintdef(k.oid) as definition, k.convalidated as "isValidated"
from pg_catalog.pg_constraint k where k.contypid = any($1::oid[]) order by k.conname collate "C"`;

/** Returns the items of a domain: its creation, and constraints that are not validated. */
export function domainItems(domain: TypeRow, constraints: readonly DomainConstraint[]): readonly Item[] {
  const { oid, name, baseType, collation, defaultText, owner, privileges } = domain;
  const key = `pg_type/${oid}`;
  const checks = constraints.filter(({ isNotNull }) => !isNotNull);
  const inline = checks.filter(({ isValidated }) => isValidated);
  const addition = (check: DomainConstraint): string =>
    `ALTER DOMAIN ${name} ADD CONSTRAINT ${check.name} ${check.definition}`;
  const create = createItem({
    key,
    target: `DOMAIN ${name}`,
    structure: { kind: 'domain', domain, constraints },
    addresses: constraints
      .filter((constraint) => constraint.isNotNull || inline.includes(constraint))
      .map((constraint) => ({ key: `pg_constraint/${constraint.oid}`, target: constraintTarget(constraint, name) })),
    parts: inline.map((check) => ({ key: `pg_constraint/${check.oid}`, statements: [addition(check)] })),
    statements: (separate) => [
      [
        `CREATE DOMAIN ${name} AS ${baseType}`,
        ...(collation === null ? [] : [`    COLLATE ${collation}`]),
        ...(defaultText === null ? [] : [`    DEFAULT ${defaultText}`]),
        ...notNull(domain, constraints),
        ...inline
          .filter((check) => !separate.has(`pg_constraint/${check.oid}`))
          .map((check) => `    CONSTRAINT ${check.name} ${check.definition}`),
      ].join('\n'),
    ],
    owner: ownerStatements(`DOMAIN ${name}`, owner),
    grants: objectGrants(`DOMAIN ${name}`, privileges),
  });
  const others = checks
    .filter(({ isValidated }) => !isValidated)
    .map((check) =>
      createItem({
        key: `pg_constraint/${check.oid}`,
        object: key,
        target: constraintTarget(check, name),
        requires: [key],
        drop: [`ALTER DOMAIN ${name} DROP CONSTRAINT ${check.name}`],
        statements: [addition(check)],
      }),
    );
  return [create, ...others];
}

function constraintTarget({ name }: DomainConstraint, domain: string): string {
  return `CONSTRAINT ${name} ON DOMAIN ${domain}`;
}

/** Since PostgreSQL 17, the constraint has a name. */
function notNull({ isNotNull, plainName }: TypeRow, constraints: readonly DomainConstraint[]): readonly string[] {
  if (!isNotNull) return [];
  const named = constraints.find((constraint) => constraint.isNotNull);
  const isDefault = named === undefined || named.plainName === `${plainName}_not_null`;
  return [`    ${isDefault ? '' : `CONSTRAINT ${named.name} `}NOT NULL`];
}
