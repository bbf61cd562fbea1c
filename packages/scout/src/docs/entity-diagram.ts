/** The tables of a schema and their references as a Mermaid entity diagram. */
import { createHash } from 'node:crypto';
import type { Column, Constraint, Relation } from './dictionary.ts';

/** The limits of Mermaid, which GitHub has too. A larger diagram is not drawn. */
const maxCharacters = 50_000;
const maxEdges = 500;

/**
 * Returns the lines of the diagram. A diagram that is too large has only the columns of keys, or no columns; null without a table, and
 * when that is too large as well. Partitions are left out.
 */
export function entityDiagram(relations: readonly Relation[]): string | null {
  const tables = relations.filter(
    ({ object, partitionOf }) => (object.kind === 'TABLE' || object.kind === 'FOREIGN TABLE') && partitionOf === null,
  );
  const references = tables.flatMap((table) => referenceLines(table));
  if (tables.length === 0 || references.length > maxEdges) return null;
  for (const isShown of columnChoices) {
    const entities = tables.flatMap((table) => entityLines(table, isShown));
    const diagram = ['erDiagram', ...entities, ...references].map((line) => `${line}\n`).join('');
    if (diagram.length <= maxCharacters) return diagram;
  }
  return null;
}

type ColumnFilter = (column: Column, table: Relation) => boolean;

const columnChoices: readonly ColumnFilter[] = [
  () => true,
  (column, table) => keysOf(column, table) !== '',
  () => false,
];

function entityLines(table: Relation, isShown: ColumnFilter): readonly string[] {
  const columns = table.columns.filter((column) => isShown(column, table));
  const name = entityName(table.object.name);
  if (columns.length === 0) return [`  ${name}`];
  const rows = columns.map(
    (column) => `    ${attributeWord(column.type)} ${attributeWord(column.plainName)}${keysOf(column, table)}`,
  );
  return [`  ${name} {`, ...rows, '  }'];
}

const keyNames = { p: 'PK', f: 'FK', u: 'UK' } as const;

function keysOf({ name }: Column, { constraints }: Relation): string {
  const found = Object.entries(keyNames).filter(([type]) =>
    constraints.some((constraint) => constraint.type === type && constraint.columns.includes(name)),
  );
  return found.length === 0 ? '' : ` ${found.map(([, key]) => key).join(', ')}`;
}

/** `language ||--o{ film`: a film has one language, or none if the column is nullable. */
function referenceLines({ object, columns, constraints }: Relation): readonly string[] {
  const required = new Set(columns.filter(({ isNotNull }) => isNotNull).map(({ name }) => name));
  return constraints.flatMap((constraint) => {
    const { references } = constraint;
    if (references === null) return [];
    const parent = references.schema === object.schema ? references.name : `${references.schema}.${references.name}`;
    const one = constraint.columns.every((name) => required.has(name)) ? '||' : '|o';
    const many = isUnique(constraint, constraints) ? 'o|' : 'o{';
    const label = quoted(constraint.columns.join(', '));
    return [`  ${entityName(parent)} ${one}--${many} ${entityName(object.name)} : ${label}`];
  });
}

/** Whether at most one row has the values of the foreign key. */
function isUnique({ columns }: Constraint, constraints: readonly Constraint[]): boolean {
  return constraints.some(
    ({ type, columns: unique }) => (type === 'p' || type === 'u') && unique.every((name) => columns.includes(name)),
  );
}

/** What Mermaid, its HTML or Markdown interpret in a quoted name. */
const unsafe = /[^\p{L}\p{M}\p{N} _.,()'*+/:=?@~^-]/gu;

function quoted(text: string): string {
  return `"${text.replace(unsafe, '_')}"`;
}

/** Names that become equal get a part of their hash. */
function entityName(name: string): string {
  const safe = name.replace(unsafe, '_');
  return safe === name && safe.trim() !== '' ? quoted(name) : `"${safe} ${hash(name)}"`;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 6);
}

/** Types and columns are one word, which is not a keyword for a key. */
function attributeWord(text: string): string {
  const word = text.replace(/"/g, '').replace(/[^A-Za-z0-9_()[\]\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]/g, '_');
  return /^[A-Za-z_\u00c0-\u024f]/.test(word) && !/^(pk|fk|uk)$/i.test(word) ? word : `_${word}`;
}
