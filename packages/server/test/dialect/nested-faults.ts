import type { Sample, SampleColumn, SampleTable } from './sample-rows.ts';
import type { Level, Pick, SingleInsert } from './nested-trees.ts';

/* One fault in a row of a tree, and the rules of the database that find it. */

/** Values that the checks of domains refuse. */
const refused: Readonly<Record<string, unknown>> = {
  year: 1800,
  email: 'x',
  slug: 'NOT A SLUG',
  quantity: -1,
  sku: '',
  percent: 101,
  Emoji: '123456789',
  amount: 0,
  iso: 'eur',
};

const missing: Readonly<Record<string, unknown>> = {
  int2: 30_000,
  uuid: 'ffffffff-ffff-4fff-8fff-ffffffffffff',
  text: 'zz',
  varchar: 'zz',
  bpchar: 'zz',
  sku: 'zz',
  iso: 'ZZZ',
  date: '1900-01-01',
};

/** For each table the column that the role may not write, and the column with a value that a policy refuses. */
export interface Rules {
  readonly forbidden: ReadonlyMap<string, string>;
  readonly guarded: ReadonlyMap<string, string>;
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function isPlain(
  { keys }: SampleTable,
  { name, notNull, isUnique, isGiven, isGenerated, hasDefault }: SampleColumn,
): boolean {
  return (
    !notNull &&
    !isUnique &&
    !isGiven &&
    !isGenerated &&
    !hasDefault &&
    !keys.some(({ columns }) => columns.includes(name))
  );
}

export function selectRules(sample: Sample): Rules {
  const forbidden = new Map<string, string>();
  const guarded = new Map<string, string>();
  for (const table of sample.tables) {
    const plain = table.columns.filter((column) => isPlain(table, column));
    const last = plain.at(-1);
    if (plain.length > 1 && last !== undefined) forbidden.set(table.sql, last.name);
    const text = table.columns.find(
      (column) =>
        sample.typeOf(column).name === 'text' &&
        !column.isUnique &&
        forbidden.get(table.sql) !== column.name &&
        !table.keys.some(({ columns }) => columns.includes(column.name)),
    );
    if (text !== undefined) guarded.set(table.sql, text.name);
  }
  return { forbidden, guarded };
}

/** Returns the SQL that gives a role the privileges, and tables their policies. */
export function rulesSql(sample: Sample, { forbidden, guarded }: Rules, role: string): string {
  const schemas = [...new Set(sample.tables.map(({ schema }) => quote(schema)))].join();
  return [
    `grant usage on schema ${schemas} to ${role}`,
    `grant select on all tables in schema ${schemas} to ${role}`,
    `grant usage on all sequences in schema ${schemas} to ${role}`,
    ...sample.tables.flatMap(({ sql, columns }) => {
      const list = columns.flatMap(({ name }) => (forbidden.get(sql) === name ? [] : [quote(name)])).join();
      const column = guarded.get(sql);
      return [
        `grant insert (${list}), update (${list}) on ${sql} to ${role}`,
        ...(column === undefined
          ? []
          : [
              `alter table ${sql} enable row level security`,
              `create policy allowed on ${sql} using (true) with check (${quote(column)} is distinct from 'forbidden')`,
            ]),
      ];
    }),
  ].join(';');
}

type Change = readonly [name: string, value: unknown];

interface FaultContext {
  readonly sample: Sample;
  readonly rules: Rules;
  /** Whether rows that exist are merged: a statement cannot have the same key twice, as single inserts can. */
  readonly merges: boolean;
}

type Fault = (insert: SingleInsert, context: FaultContext) => readonly Change[];

/** The columns that a request may write, without those that the outer row sets. */
function ownColumns({ row, outer }: SingleInsert): readonly SampleColumn[] {
  return row.table.columns.filter(
    ({ name, identity, isGenerated }) => !isGenerated && identity !== 'a' && outer?.key.columns.includes(name) !== true,
  );
}

/** By SQLSTATE and kind, the changes of which one makes a row wrong. */
const faults: Readonly<Record<string, Fault>> = {
  '23502 not null': (insert) =>
    ownColumns(insert)
      .filter(({ name, notNull }) => notNull && name in insert.row.values)
      .map(({ name }) => [name, null]),
  '23514 check': (insert, { sample }) =>
    ownColumns(insert).flatMap((column): Change[] => {
      const { kind, name } = sample.typeOf(column);
      if (kind === 'd' && Object.hasOwn(refused, name)) return [[column.name, refused[name]]];
      return column.name === 'stars' ? [['stars', 9]] : [];
    }),
  '22P02 value': (insert, { sample }) =>
    ownColumns(insert)
      .filter((column) => ['uuid', 'bool'].includes(sample.typeOf(column).name) || sample.typeOf(column).kind === 'e')
      .map(({ name }) => [name, 'not a value']),
  '23505 unique': (insert, { sample, merges }) =>
    ownColumns(insert)
      .filter(({ isUniqueAlone, isKey }) => isUniqueAlone && !(merges && isKey))
      .map(({ name }) => [name, sample.seeds.get(insert.row.table.sql)![0]![name]]),
  '23503 foreign key': (insert, { sample }) =>
    insert.row.table.keys
      .filter(({ columns }) => columns.length === 1 && ownColumns(insert).some(({ name }) => name === columns[0]))
      .map(({ columns: [name] }) => {
        const column = insert.row.table.columns.find((each) => each.name === name)!;
        return [name!, missing[sample.typeOf(column).name] ?? 900_000_000];
      }),
  '42501 column': ({ row: { table } }, { rules }) =>
    rules.forbidden.has(table.sql) ? [[rules.forbidden.get(table.sql)!, null]] : [],
  '42501 policy': ({ row: { table } }, { rules }) =>
    rules.guarded.has(table.sql) ? [[rules.guarded.get(table.sql)!, 'forbidden']] : [],
};

/**
 * Returns the rows that can have a fault. Rows may conflict by chance, too: a statement reads all values first and verifies foreign keys last,
 * so that of two faults it finds the same one as single inserts do only in its first or last row.
 */
function rowsFor(kind: string, level: Level): Level {
  if (kind.startsWith('23503')) return level.slice(-1);
  return /^(?:22P02|23514|23502)/.test(kind) ? level.slice(0, 1) : level;
}

/** Makes a row of a tree wrong. Returns the kind of the fault; null: the tree has no row that can have it. */
export function addFault(levels: readonly Level[], context: FaultContext, pick: Pick): string | null {
  const kinds = Object.keys(faults);
  const kind = kinds[pick(kinds.length - 1)]!;
  const possible = levels.flatMap((level) =>
    rowsFor(kind, level).flatMap((insert) =>
      faults[kind]!(insert, context)
        .filter(([name]) => kind === '42501 column' || name in insert.row.values)
        .map((change) => ({ level, insert, change })),
    ),
  );
  if (possible.length === 0) return null;
  const {
    level,
    insert,
    change: [name, value],
  } = possible[pick(possible.length - 1)]!;
  // Rows of one statement may need the same keys.
  for (const other of level) if (!(name in other.row.values) && kind === '42501 column') other.row.values[name] = null;
  insert.row.values[name] = value;
  return kind;
}
