/** The statements that change a table that remains: columns, checks and keys, and properties. */
import { columnSettings, columnText, defaultKey, identityText } from '../ddl/definitions/columns.ts';
import { constraintText, indexUses } from '../ddl/definitions/constraints.ts';
import { identityPersistence, notNullOf, replicaIdentities } from '../ddl/definitions/tables.ts';
import { alterColumn, type ColumnState } from './alter-column.ts';
import { type Note, notedStatements, plainStatements, type Statement } from './change.ts';
import { isInheritedConstraint } from './elements.ts';
import { type ConstraintPlace, onlineConstraint, onlineValidation } from './online-forms.ts';
import type { Schema } from './read-schema.ts';
import { retypeColumn, type TableSurroundings } from './retype-column.ts';
import { foreignOptionClauses, parameterClauses } from './storage-options.ts';
import { addedColumnNotes, newConstraintNotes, rewrites, violated } from './table-notes.ts';
import type { Column, Constraint, Table } from '../ddl/structure.ts';

export interface TablePair {
  readonly before: Table;
  readonly after: Table;
}

export interface TableChange extends TablePair {
  /** The constraints that the definition of the table has. */
  readonly inline: readonly Constraint[];
  /** The parents that the table keeps: what they declare comes from them. */
  readonly parents: readonly TablePair[];
  readonly current: Schema;
  readonly surroundings: TableSurroundings;
  /** Whether a part such as `column id` is created: it is new, or was dropped. */
  readonly isNew: (part: string) => boolean;
  readonly isRetyped: (column: string) => boolean;
}

/** Returns the statements for columns, and those for what can need objects that need the table. */
export function alterTable(change: TableChange): {
  readonly columns: readonly Statement[];
  readonly rest: readonly Statement[];
} {
  const { before, after } = change;
  const own = after.columns.filter(({ name }) => !isOfParent(change, name));
  const added = own.filter(({ name }) => change.isNew(`column ${name}`));
  // The type gives the columns, unless the table gets it after them.
  const additions = after.row.ofType === null || change.isNew('row type') ? added : [];
  const remaining = own.filter((column) => !added.includes(column));
  const inherited = after.columns.filter(({ name }) => isOfParent(change, name));
  return {
    // A column cannot get another type while a generated column uses it.
    columns: [
      ...additions.filter(({ generated }) => generated === '').flatMap((column) => addColumn(change, column)),
      ...remaining.filter(({ name }) => change.isRetyped(name)).flatMap((column) => retype(change, column)),
      ...additions.filter(({ generated }) => generated !== '').flatMap((column) => addColumn(change, column)),
    ],
    rest: [
      ...persistence(change),
      ...(after.row.ofType === null
        ? plainStatements(added.flatMap((column) => columnSettings(after.alter, column)))
        : []),
      ...remaining.flatMap((column) =>
        alterColumn(names(change), columnBefore(change, column), stateOf(after, column)),
      ),
      ...inherited.flatMap((column) => alterInherited(change, column)),
      ...plainStatements(identitiesPersistence(change)),
      ...constraints(change),
      ...properties(change),
      ...plainStatements(before.row.kind === 'f' ? [] : tableUses(change)),
    ],
  };
}

/** Whether a column is in the table before the script, and keeps its type. */
export function isKeptColumn({ before, isNew, isRetyped }: TableChange, name: string): boolean {
  return !isNew(`column ${name}`) && !isRetyped(name) && before.columns.some((column) => column.name === name);
}

export function constraintPlace(change: TableChange): ConstraintPlace {
  const { after, current, surroundings, isNew } = change;
  return {
    table: after,
    version: current.version,
    isKeptColumn: (name) => isKeptColumn(change, name),
    isJoining: after.row.parents.some((parent) => isNew(after.isPartition ? 'partition' : `parent ${parent}`)),
    relations: surroundings.relations,
  };
}

function names(change: TableChange): Parameters<typeof alterColumn>[0] {
  const { before, after, current, surroundings } = change;
  const { alter, takenNames = new Set() } = after;
  return {
    alter,
    alterAll: alterAll(after),
    table: after,
    former: before,
    isKeptColumn: (name) => isKeptColumn(change, name),
    takenNames,
    version: current.version,
    lastValues: current.lastValues,
    counters: surroundings.counters,
  };
}

export function alterAll({ alter }: Table): string {
  return alter.replace(' ONLY ', ' ');
}

function isOfParent({ parents }: TableChange, name: string): boolean {
  return parents.some(({ after }) => after.columns.some((column) => column.name === name));
}

function stateOf(table: Table, column: Column): ColumnState {
  return {
    column,
    identity: table.identities.find(({ column: number }) => number === column.number),
    notNull: table.constraints.find(({ type, column: number }) => type === 'n' && number === column.number),
  };
}

/** Returns the column as it is after drops, and the change of its type. */
function columnBefore(change: TableChange, after: Column): ColumnState {
  const { before, isNew, isRetyped } = change;
  const column = before.columns.find(({ name }) => name === after.name)!;
  const state = stateOf(before, column);
  const hasDefault = column.generated !== '' || !isNew(`default of ${column.name}`);
  const hasIdentity = state.identity === undefined || !isNew(`identity of ${column.name}`);
  return {
    ...state,
    column: {
      ...column,
      ...(hasDefault ? {} : { defaultText: null }),
      ...(hasIdentity ? {} : { identity: '' as const }),
      ...(isRetyped(column.name) ? { storage: null, compression: null } : {}),
    },
  };
}

/** A column that the parent adds has the properties that it has there. */
function alterInherited(change: TableChange, column: Column): readonly Statement[] {
  const { after, parents } = change;
  const parent = parents.find(({ after: table }) => table.columns.some(({ name }) => name === column.name))!;
  const wanted = stateOf(after, column);
  const [old, next] = [parent.before, parent.after].map((table) => {
    const found = table.columns.find(({ name }) => name === column.name);
    return found === undefined ? undefined : stateOf(table, found);
  });
  const isAdded = change.isNew(`column ${column.name}`);
  const state = isAdded
    ? { ...next!, identity: wanted.identity }
    : withParentsNotNull(columnBefore(change, column), old, next!);
  const sameIdentity = { ...state.column, identity: column.identity };
  const expression = column.generated === '' ? {} : { defaultText: column.defaultText, generated: column.generated };
  // Expressions, identity and the names of not null constraints are those of the parent.
  return alterColumn(
    names(change),
    {
      column: { ...sameIdentity, ...expression },
      identity: wanted.identity,
      notNull: state.column.isNotNull ? wanted.notNull : undefined,
    },
    wanted,
  );
}

/** `SET NOT NULL` and `DROP NOT NULL` of the parent reach the child. */
function withParentsNotNull(state: ColumnState, before: ColumnState | undefined, after: ColumnState): ColumnState {
  if (before === undefined || before.column.isNotNull === after.column.isNotNull) return state;
  return { ...state, column: { ...state.column, isNotNull: after.column.isNotNull } };
}

function addColumn(change: TableChange, column: Column): readonly Statement[] {
  const { after, current, surroundings } = change;
  const { identity, notNull } = stateOf(after, column);
  const isLater = notNull?.isValidated === false;
  // A column keeps the NOT NULL that it had from a former parent, and has the name that it gets from a new one.
  const inherited = notNull === undefined ? 'NOT NULL' : `CONSTRAINT ${notNull.name} NOT NULL`;
  const notNullText = notNullOf(after, column) || (column.isNotNull && !isLater ? inherited : '');
  const identityClause = identityText(column, identity, `${after.plainName}_${column.plainName}_seq`);
  const text = columnText(
    column,
    current.version < 18 ? notNullText.replace(/^CONSTRAINT .* NOT/s, 'NOT') : notNullText,
    identityClause,
    new Set(),
  );
  const notes = addedColumnNotes(after, {
    column,
    isNotNull: notNullText !== '',
    isVolatile: surroundings.volatileDefaults.has(defaultKey(column)),
    domains: surroundings.types.wanted,
  });
  return [
    { sql: `${alterAll(after)} ADD COLUMN ${text}`, notes },
    ...plainStatements(isLater ? [`${alterAll(after)} ADD CONSTRAINT ${notNull.name} ${notNull.definition}`] : []),
  ];
}

function retype({ before, after, surroundings }: TableChange, column: Column): readonly Statement[] {
  const old = before.columns.find(({ name }) => name === column.name)!;
  return retypeColumn({ table: after, before: old, after: column }, surroundings);
}

/** Checks of a parent reach its children, with those that exist. */
function constraints(change: TableChange): readonly Statement[] {
  const { before, after, inline, isNew, surroundings } = change;
  // A table that comes to inherit needs the checks of its parent before.
  const inherited = after.constraints.filter((check) => isInheritedConstraint(check, after) && !inline.includes(check));
  return [...inline, ...inherited].flatMap((constraint) => {
    if (constraint.type === 'n' || isOfKeptParent(constraint, change)) return [];
    const uses = indexUses(after.row.name, { ...constraint, plainName: constraint.name });
    if (isNew(`constraint ${constraint.name}`)) {
      const notes = newConstraintNotes(after, constraint, surroundings.isKept(constraint, after));
      const statements = notedStatements([`${alterAll(after)} ADD ${constraintText(constraint)}`, ...uses], notes);
      return onlineConstraint(constraint, constraintPlace(change), statements);
    }
    return alterConstraint(
      after,
      before.constraints.find(({ name }) => name === constraint.name)!,
      constraint,
    );
  });
}

/** Whether a parent gives the constraint to the table. */
export function isOfKeptParent(
  constraint: Constraint,
  { parents, after }: Pick<TableChange, 'parents' | 'after'>,
): boolean {
  if (!isInheritedConstraint(constraint, after)) return false;
  return parents.some(({ after: parent }) =>
    parent.constraints.some(({ plainName }) => plainName === constraint.plainName),
  );
}

export function alterConstraint(table: Table, before: Constraint, after: Constraint): readonly Statement[] {
  const usesOf = (constraint: Constraint): readonly string[] =>
    indexUses(table.row.name, { ...constraint, plainName: constraint.name });
  const old = usesOf(before);
  const validates = !before.isValidated && after.isValidated;
  return [
    ...(validates
      ? [onlineValidation({ sql: `${alterAll(table)} VALIDATE CONSTRAINT ${after.name}`, notes: [violated(after)] })]
      : []),
    ...plainStatements(usesOf(after).filter((statement) => !old.includes(statement))),
  ];
}

function persistence({ before, after }: TableChange): readonly Statement[] {
  if (before.row.isUnlogged === after.row.isUnlogged) return [];
  const notes = after.isPartitioned ? [] : [rewrites(after)];
  return [{ sql: `ALTER TABLE ${after.name} SET ${after.row.isUnlogged ? 'UNLOGGED' : 'LOGGED'}`, notes }];
}

/** A table changes the sequences of its identity columns with its own persistence. */
function identitiesPersistence({ before, after }: TableChange): readonly string[] {
  const isChanged = before.row.isUnlogged !== after.row.isUnlogged;
  return after.identities.flatMap((identity) => {
    const old = isChanged ? undefined : before.identities.find(({ name }) => name === identity.name);
    return identityPersistence(identity, old?.isUnlogged ?? after.row.isUnlogged);
  });
}

function properties({ before, after, isNew }: TableChange): readonly Statement[] {
  const { row, alter } = after;
  const old = before.row;
  const flag = (was: boolean, is: boolean, texts: readonly [string, string]): readonly string[] =>
    was === is ? [] : [is ? texts[0] : texts[1]];
  const rewriting = [
    ...(old.accessMethod === row.accessMethod ? [] : [`SET ACCESS METHOD ${row.accessMethod ?? 'heap'}`]),
    ...(old.tablespace === row.tablespace ? [] : [`SET TABLESPACE ${row.tablespace ?? 'pg_default'}`]),
  ];
  const clauses = [
    ...parameterClauses(old.options, row.options),
    ...parameterClauses(old.toastOptions, row.toastOptions, 'toast.'),
    ...foreignOptionClauses(old.foreignOptions, row.foreignOptions),
    ...flag(old.hasRowSecurity, row.hasRowSecurity, ['ENABLE ROW LEVEL SECURITY', 'DISABLE ROW LEVEL SECURITY']),
    ...flag(old.forcesRowSecurity, row.forcesRowSecurity, ['FORCE ROW LEVEL SECURITY', 'NO FORCE ROW LEVEL SECURITY']),
    ...(after.isPartition
      ? []
      : row.parents.filter((parent) => isNew(`parent ${parent}`)).map((parent) => `INHERIT ${parent}`)),
  ];
  return [
    ...rewriting.map((clause) => ({ sql: `${alter} ${clause}`, notes: after.isPartitioned ? [] : [rewrites(after)] })),
    ...plainStatements(clauses.map((clause) => `${alter} ${clause}`)),
    ...(row.ofType !== null && isNew('row type')
      ? [
          {
            sql: `${alter} OF ${row.ofType}`,
            notes: hasOrderOfType({ before, after, isNew }) ? [] : [otherOrder(after)],
          },
        ]
      : []),
  ];
}

/** New columns come last. */
function hasOrderOfType({ before, after, isNew }: Pick<TableChange, 'before' | 'after' | 'isNew'>): boolean {
  const wanted = after.columns.map(({ name }) => name);
  const kept = before.columns
    .map(({ name }) => name)
    .filter((name) => wanted.includes(name) && !isNew(`column ${name}`));
  return [...kept, ...wanted.filter((name) => !kept.includes(name))].every((name, index) => name === wanted[index]);
}

function otherOrder({ name, row }: Table): Note {
  const remedy = 'create the table again and copy its rows';
  return {
    effect: 'FAILS IF',
    text: `the columns of ${name} are not in the order of ${row.ofType}, as here: ${remedy}`,
  };
}

/** An index as replica identity is set with the index. */
function tableUses({ before, after }: TableChange): readonly string[] {
  const { replicaIdentity } = after.row;
  if (before.row.replicaIdentity === replicaIdentity || replicaIdentity === 'i') return [];
  return [`${after.alter} REPLICA IDENTITY ${replicaIdentities[replicaIdentity] ?? 'DEFAULT'}`];
}
