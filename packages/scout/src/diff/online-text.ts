/** The steps of `--online` as scripts: one for each step. */
import { visibleSql } from '../ddl/sql-text.ts';
import type { Change } from './change.ts';
import { begin, changeText, comment, preamble, type Sides, titles, toJson } from './diff-text.ts';
import { onlineSteps, type Step, type TableLock, tableLocks } from './online-steps.ts';
import type { Plan } from './plan.ts';
import type { Schema } from './read-schema.ts';

export interface ScriptFile {
  readonly name: string;
  readonly text: string;
}

/** Returns the files in their order, which is that of their names. */
export function onlineFiles({ changes, notes }: Plan, sides: Sides): readonly ScriptFile[] {
  const steps = onlineSteps(changes);
  const { schema } = sides.from;
  const width = Math.max(2, String(steps.length).length);
  return steps.map((step, index) => ({
    name: `${String(index + 1).padStart(width, '0')}-${step.name}.sql`,
    text: [
      // Atlas takes it as a directive when an empty line follows.
      '-- atlas:txmode none\n\n',
      ...titles(sides),
      comment(`Step ${index + 1} of ${steps.length}: ${step.isTransactional ? 'one transaction' : aloneText(step)}`),
      ...(index === 0 ? notes.map((note) => comment(`Note: ${note}`)) : []),
      ...stepText(step, schema),
    ].join(''),
  }));
}

function aloneText({ changes }: Step): string {
  const [sql = ''] = changes.flatMap(({ statements }) => statements.map((statement) => statement.sql));
  const index =
    /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY ((?:"(?:[^"]|"")*"|\S+)) ON ((?:"(?:[^"]|"")*"|[^".\s]+)\.)/.exec(sql);
  const repeat = index === null ? '' : `; when it fails, run DROP INDEX ${index[2]}${index[1]} before it is repeated`;
  return `outside of a transaction${repeat}`;
}

/** Returns the files as one script for psql. */
export function onlineText(files: readonly ScriptFile[]): string {
  return files.map(({ text }) => text.replace(/^-- atlas:txmode none\n\n/, '')).join('\n');
}

export function onlineJson({ changes }: Plan, { from }: Sides): readonly unknown[] {
  return onlineSteps(changes).map(({ name, isTransactional, changes: own }) => ({
    name,
    isTransactional,
    locks: isTransactional ? tableLocks(own, tablesOf(from.schema, own)) : [],
    changes: own.map((change) => toJson(change, from.schema.version)),
  }));
}

function stepText({ isTransactional, changes }: Step, schema: Schema): readonly string[] {
  const texts = changes.map((change: Change) => changeText(change, schema.version));
  if (!isTransactional) return texts;
  const locks = tableLocks(changes, tablesOf(schema, changes));
  return [`\n${preamble}`, `\n${begin}SET LOCAL lock_timeout = '2s';\n`, lockText(locks), ...texts, '\nCOMMIT;\n'];
}

/** The names that tables have before the step. */
function tablesOf({ objects }: Schema, changes: readonly Change[]): ReadonlySet<string> {
  const renamed = changes.filter(({ action }) => action === 'rename').map(({ object }) => object);
  const tables = (renamed.length === 0 ? [...objects.values()] : renamed).filter(({ kind }) => kind === 'TABLE');
  return new Set(tables.map(({ qualifiedName }) => qualifiedName));
}

/** The number of times that a transaction tries to lock its tables: two minutes, with two seconds for each and the pauses. */
const attempts = 30;

/**
 * Sessions that come after a statement which waits for a lock wait for it, too. The block gives the queue free after two seconds, and
 * tries again: the end of its inner block releases the locks that it has.
 */
function lockText(locks: readonly TableLock[]): string {
  if (locks.length === 0) return '';
  const statements = locks.map(({ table, mode }) => `      LOCK TABLE ${table} IN ${mode} MODE;\n`).join('');
  let tag = '$pgscout$';
  while (statements.includes(tag)) tag = `${tag.slice(0, -1)}_$`;
  return `
${comment('Locks the tables, and lets other sessions go on between two attempts')}${visibleSql(`DO ${tag}
BEGIN
  FOR attempt IN 1..${attempts} LOOP
    BEGIN
${statements}      RETURN;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      PERFORM pg_catalog.pg_sleep(2);
    END;
  END LOOP;
  RAISE lock_not_available USING MESSAGE = 'other transactions keep the tables locked; run this file again';
END
${tag}`)};
`;
}
