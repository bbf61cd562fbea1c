/** The changes as a script, and as JSON. */
import { escapeControlCharacters } from '@pgway/core/terminal';
import { objectLine } from '../catalog/objects.ts';
import { visibleSql } from '../ddl/sql-text.ts';
import type { Change, Note, Statement } from './change.ts';
import type { Plan } from './plan.ts';
import { missingFeature } from './server-features.ts';
import type { Schema } from './read-schema.ts';

interface Side {
  readonly schema: Schema;
  /** Such as `database "shop" on db:5432`. */
  readonly title: string;
}

export interface Sides {
  readonly from: Side;
  readonly to: Side;
}

export const preamble = `SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
`;

/** Functions may name tables that come later. Names are qualified. */
export const begin = `BEGIN;
SET LOCAL check_function_bodies = off;
SET LOCAL search_path = '';
`;

/** The changes are one transaction, except new values of enums, which can be used after it has ended. */
export function diffText({ changes, notes }: Plan, { from, to }: Sides): string {
  const [alone, together] = [false, true].map((isTransactional) =>
    changes.filter((change) => change.isTransactional === isTransactional),
  ) as [Change[], Change[]];
  // New values of an enum are added to its new name.
  const renames = alone.length === 0 ? [] : together.filter(({ action }) => action === 'rename');
  const rest = together.filter((change) => !renames.includes(change));
  return [
    ...titles({ from, to }),
    ...notes.map((note) => comment(`Note: ${note}`)),
    `\n${preamble}`,
    ...transaction(renames, from.schema.version),
    ...alone.map((change) => changeText(change, from.schema.version)),
    ...transaction(rest, from.schema.version),
  ].join('');
}

function transaction(changes: readonly Change[], version: number): readonly string[] {
  if (changes.length === 0) return [];
  return [`\n${begin}`, ...changes.map((change) => changeText(change, version)), '\nCOMMIT;\n'];
}

/** Returns the comment that names the two schemas. */
export function titles({ from, to }: Sides): readonly string[] {
  return [comment(`The statements give the ${from.title}`), comment(`the schema of the ${to.title}.`)];
}

export function comment(text: string): string {
  return `-- ${escapeControlCharacters(text.replaceAll('\n', ' '))}\n`;
}

export function changeText({ action, object, statements }: Change, version: number): string {
  return `\n${comment(`${action} ${objectLine(object)}`)}${statements
    .map(
      (statement) =>
        `\n${allNotes(statement, version)
          .map(({ effect, text }) => comment(`${effect} ${text}`))
          .join('')}${visibleSql(statement.sql)};\n`,
    )
    .join('')}`;
}

/** Returns the notes of a statement, with the one of a server that is too old. */
function allNotes({ sql, notes }: Statement, version: number): readonly Note[] {
  const feature = missingFeature(sql, version);
  return feature === null ? notes : [{ effect: 'FAILS IF', text: feature }, ...notes];
}

/** Returns the message of equal schemas. */
export function equalText({ notes }: Plan): string {
  const all = notes.map((note) => `note: ${escapeControlCharacters(note.replaceAll('\n', ' '))}\n`);
  return `the schemas are equal${notes.length === 0 ? '' : ' otherwise'}\n${all.join('')}`;
}

export function toJson(
  { object, action, statements, isTransactional }: Change,
  version: number,
): Readonly<Record<string, unknown>> {
  const { kind, schema, name, qualifiedName } = object;
  return {
    kind,
    schema,
    name,
    qualifiedName,
    action,
    losesData: statements.some(({ notes }) => notes.some(({ effect }) => effect === 'LOSES')),
    isTransactional,
    statements: statements.map((statement) => ({
      sql: visibleSql(statement.sql),
      notes: allNotes(statement, version),
    })),
  };
}
