/** Rules about relations that are served: who may see their rows. */
import { quoteLiteral } from '../ddl/sql-text.ts';
import {
  bypassesPolicies,
  type Facts,
  type Index,
  limitedRoles,
  type Relation,
  type ServedEndpoint,
  type ServedRelation,
} from './facts.ts';
import { columnObject, type Finding, relationKind, relationObject, routineObject, type Rule } from './finding.ts';
import { dropIndex } from './index-rules.ts';
import { isSecret } from './secret-names.ts';
import { endpointText } from './served.ts';

/** Returns the served relations of some kinds, with their endpoints. */
function servedOf({ relations, served }: Facts, kinds: string): readonly (readonly [Relation, ServedRelation])[] {
  return [...relations.values()].flatMap((relation) => {
    const found = served.relations.get(relation.oid);
    return found !== undefined && kinds.includes(relation.relationKind) ? [[relation, found] as const] : [];
  });
}

const hasPolicy = ({ policies }: Facts, { oid }: Relation): boolean => policies.some(({ table }) => table === oid);

/** Returns the statement that leaves an object unpublished: the last line of its comment decides. */
function unpublish(target: string, comment: string | null): string {
  const isPublishedByComment = /^\s*HTTP\b/im.test(comment ?? '');
  const lines = [...(comment === null ? [] : [comment]), ...(isPublishedByComment ? [] : ['HTTP']), 'disabled'];
  return `COMMENT ON ${target} IS ${quoteLiteral(lines.join('\n'))}`;
}

function unpublishRelation(relation: Relation): string {
  return unpublish(`${relationKind(relation)} ${relation.sqlName}`, relation.comment);
}

function findWithoutRowSecurity(facts: Facts): readonly Finding[] {
  const open = servedOf(facts, 'rp').filter(([table]) => !table.hasRowSecurity && !hasPolicy(facts, table));
  return open.map(([table, { endpoints }]) => ({
    object: relationObject(table),
    reason: `row level security is off: each row is served by ${endpointText(endpoints)}. Create policies, too: without one, the statement hides all rows`,
    statements: [`ALTER TABLE ${table.sqlName} ENABLE ROW LEVEL SECURITY`],
  }));
}

function findDisabledPolicies(facts: Facts): readonly Finding[] {
  const tables = [...facts.relations.values()].filter((table) => !table.hasRowSecurity && hasPolicy(facts, table));
  return tables.map((table) => ({
    object: relationObject(table),
    reason: 'the table has policies, but row level security is off: they have no effect',
    statements: [`ALTER TABLE ${table.sqlName} ENABLE ROW LEVEL SECURITY`],
  }));
}

function findWithoutPolicy(facts: Facts): readonly Finding[] {
  const tables = [...facts.relations.values()].filter((table) => table.hasRowSecurity && !hasPolicy(facts, table));
  return tables.map((table) => ({
    object: relationObject(table),
    reason:
      'row level security is on, but there is no policy: only the owner sees rows. Replace false by the condition of the rows that callers may see',
    statements: [`CREATE POLICY visible_rows ON ${table.sqlName} USING (false)`],
  }));
}

function findBypassedPolicies(facts: Facts): readonly Finding[] {
  return servedOf(facts, 'rp').flatMap(([table]) => {
    const role = limitedRoles(facts).find((caller) => bypassesPolicies(caller, table));
    if (!table.hasRowSecurity || role === undefined) return [];
    const why = role.isBypassing ? 'has BYPASSRLS' : 'owns the table';
    return [
      {
        object: relationObject(table),
        reason: `policies do not apply to calls: the role ${role.sqlName} ${why}`,
        statements: [
          role.isBypassing
            ? `ALTER ROLE ${role.sqlName} NOBYPASSRLS`
            : `ALTER TABLE ${table.sqlName} FORCE ROW LEVEL SECURITY`,
        ],
      },
    ];
  });
}

/** The views whose owner, and not the caller, reads a table with row level security, each with such a table. */
function findDefinerViews(facts: Facts): readonly Finding[] {
  const found = new Map<Relation, Relation>();
  const seen = new Set<string>();
  const walk = (relation: Relation, definer: Relation | null): void => {
    const step = `${relation.oid} ${definer?.oid}`;
    if (seen.has(step)) return;
    seen.add(step);
    if (relation.relationKind !== 'v') {
      const owner = definer === null ? undefined : facts.roles.get(definer.owner);
      if (relation.hasRowSecurity && owner !== undefined && bypassesPolicies(owner, relation))
        found.set(definer!, relation);
      return;
    }
    for (const oid of relation.shownRelations) {
      const shown = facts.relations.get(oid);
      if (shown !== undefined) walk(shown, relation.isInvoker ? definer : relation);
    }
  };
  for (const [view] of servedOf(facts, 'v')) walk(view, null);
  const hasOption = facts.server.version >= 150_000;
  return [...found].map(([view, table]) => ({
    object: relationObject(view),
    reason: `the view shows ${table.sqlName} with the rights of ${view.ownerName}, to whom its policies do not apply${
      hasOption ? '' : '. Before PostgreSQL 15, only another owner of the view can change that'
    }`,
    statements: hasOption ? [`ALTER VIEW ${view.sqlName} SET (security_invoker = true)`] : [],
  }));
}

function findWithoutPolicies(kind: 'm' | 'f', reason: string): Rule['find'] {
  return (facts) =>
    servedOf(facts, kind).map(([relation, { endpoints }]) => ({
      object: relationObject(relation),
      reason: `each row is served by ${endpointText(endpoints)}: ${reason}`,
      statements: [unpublishRelation(relation)],
    }));
}

function findSecretColumns(facts: Facts): readonly Finding[] {
  return servedOf(facts, 'rpvmf').flatMap(([relation, { endpoints, commands }]) => {
    if (!commands.has('SELECT')) return [];
    return relation.columns.filter(isSecret).map((column) => ({
      object: columnObject(column, relation),
      reason: `the column, a secret by its name or type, is returned by ${endpointText(endpoints)}. Serve a view without it in place of this ${relationKind(relation).toLowerCase()}`,
      statements: [unpublishRelation(relation)],
    }));
  });
}

/** The hash of a login is verified by the gateway and not sent. */
function findSecretResults(facts: Facts): readonly Finding[] {
  return facts.routines.flatMap((routine) => {
    const endpoints = facts.served.routines.get(routine.oid) ?? [];
    const names = new Set(endpoints.filter(({ loginOrLogout }) => loginOrLogout === null).flatMap(secretsOf));
    if (names.size === 0) return [];
    return [
      {
        object: routineObject(routine),
        reason: `${[...names].join(', ')}, a secret by its name or type, is returned by ${endpointText(endpoints)}`,
        statements: [unpublish(`${routine.kind} ${routine.sqlName}${routine.signature}`, routine.comment)],
      },
    ];
  });
}

function secretsOf({ result }: ServedEndpoint): readonly string[] {
  if (result.kind !== 'object' && result.kind !== 'objects') return [];
  const columns = result.columns.map(({ name, type }) => ({ name, type: type.display, category: '' }));
  return columns.filter(isSecret).map(({ name }) => name);
}

function findWithoutKey(facts: Facts): readonly Finding[] {
  const tables = servedOf(facts, 'rp').filter(([table]) => !table.hasPrimaryKey && !table.isPartition);
  return tables.map(([table]) => {
    const unique = uniqueIndex(facts, table);
    return {
      object: relationObject(table),
      reason: 'the table has no primary key: a row cannot be named, and updates and pages need a key',
      statements: unique === undefined ? [addKeyColumn(table)] : replaceUnique(table, unique),
    };
  });
}

/** Returns the unique index with the fewest columns that identifies each row. */
function uniqueIndex({ indexes }: Facts, { oid, columns }: Relation): Index | undefined {
  const isKey = (key: number): boolean => columns.some(({ number, isNotNull }) => number === key && isNotNull);
  const unique = indexes.filter(
    ({ table, isUnique, isPartial, isValid, keys }) =>
      table === oid && isUnique && isValid && !isPartial && keys.every(isKey),
  );
  return unique.toSorted((left, right) => left.keys.length - right.keys.length)[0];
}

function addKeyColumn({ sqlName, columns }: Relation): string {
  const free = ['id', 'row_id', 'key_of_row'].find((name) => columns.every((column) => column.name !== name));
  return `ALTER TABLE ${sqlName} ADD COLUMN ${free ?? 'primary_key'} bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY`;
}

/** The index of the primary key replaces that of the unique columns, unless foreign keys refer to it. */
function replaceUnique(table: Relation, unique: Index): readonly string[] {
  const names = unique.keys.map((key) => table.columns.find(({ number }) => number === key)!.sqlName);
  const isNeeded = unique.isReferenced || unique.isReplicaIdentity;
  return [
    `ALTER TABLE ${table.sqlName} ADD PRIMARY KEY (${names.join(', ')})`,
    ...(isNeeded ? [] : [dropIndex(unique, table)]),
  ];
}

export const tableRules: readonly Rule[] = [
  { code: 'rls-off', summary: 'a served table has no row level security', find: findWithoutRowSecurity },
  {
    code: 'rls-off-with-policies',
    summary: 'a table has policies, but row level security is off',
    find: findDisabledPolicies,
  },
  { code: 'rls-without-policy', summary: 'a table has row level security, but no policy', find: findWithoutPolicy },
  {
    code: 'rls-bypassed',
    summary: 'the role of calls is not subject to the policies of a served table',
    find: findBypassedPolicies,
  },
  {
    code: 'definer-view',
    summary: 'a served view shows rows that the policies of its tables hide',
    find: findDefinerViews,
  },
  {
    code: 'served-materialized-view',
    summary: 'a materialized view is served, which has no policies',
    find: findWithoutPolicies('m', 'a materialized view has no policies, and keeps what its owner saw'),
  },
  {
    code: 'served-foreign-table',
    summary: 'a foreign table is served, which has no policies',
    find: findWithoutPolicies('f', 'a foreign table has no policies'),
  },
  {
    code: 'secret-column',
    summary: 'an endpoint of a table returns a column that holds a secret by its name or type',
    find: findSecretColumns,
  },
  { code: 'secret-result', summary: 'a function returns a secret by the name of a column', find: findSecretResults },
  { code: 'no-primary-key', summary: 'a served table has no primary key', find: findWithoutKey },
];
