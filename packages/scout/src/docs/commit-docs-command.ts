/** `pgscout --commit-docs <file>`: writes comments that were edited in a dictionary to the database. */
import { writeFiles } from '@pgway/generators/files';
import { escapeControlCharacters } from '@pgway/core/terminal';
import type { Client } from 'pg';
import { readObjects } from '../catalog/objects.ts';
import { inSnapshot } from '../catalog/snapshot.ts';
import type { CommandContext } from '../command/command-context.ts';
import { confirm } from '../process/confirm.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import { nearest } from '../process/nearest.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { statementsText } from '../ddl/definition-text.ts';
import { quoteLiteral, visibleSql } from '../ddl/sql-text.ts';
import { compareComments, type Comparison, type Edit } from './compare-comments.ts';
import { type Commented, commentedObjects, readDictionary } from './dictionary.ts';
import { digest } from './marker.ts';
import { type Document, readDocument } from './read-document.ts';

/** Prints the statements, asks, and runs all of them in one transaction. Returns 0 when nothing is to be done. */
export async function runCommitDocs({ process, operands, options, withConnection }: CommandContext): Promise<number> {
  const [name, ...others] = operands;
  if (name === undefined || others.length > 0) {
    throw new UsageError('--commit-docs: needs one file, as in --commit-docs docs.md');
  }
  const document = await readDocument(process.workingDirectory, name);
  if (document === null) throw new CommandError(`${name}: no such file`);
  await withConnection(async ({ client }) => {
    const objects = await inSnapshot(client, () => readComments(client));
    const comparison = compareComments(document.comments, objects);
    checkComparison(name, comparison, objects);
    noteOutdated(process, comparison);
    const { edits } = comparison;
    if (edits.length === 0) {
      process.stderr.write('no comment is edited\n');
      return;
    }
    process.stdout.write(statementsText(edits.map(commentStatement)));
    await askForConsent(process, edits.length, options.has('yes'));
    await runStatements(client, edits);
    process.stderr.write(`${countText(edits.length)} written to the database\n`);
    await updateFile(process, name, document, edits);
  });
  return 0;
}

async function readComments(client: Client): Promise<readonly Commented[]> {
  return commentedObjects(await readDictionary(client, await readObjects(client)));
}

function countText(count: number): string {
  return count === 1 ? '1 comment' : `${count} comments`;
}

/** @throws CommandError that names each edit which cannot be written, with its line */
function checkComparison(name: string, { conflicts, unknown }: Comparison, objects: readonly Commented[]): void {
  const ids = unknown.length === 0 ? [] : objects.map(({ id }) => id);
  const lines = [
    ...conflicts.map(({ object, line }) => ({
      line,
      text: `the comment of ${object.id} has changed in the database since the file was written`,
    })),
    ...unknown.map(({ id, line }) => ({ line, text: `the database has no ${id}${nearest(id, ids)}` })),
  ].toSorted((left, right) => left.line - right.line);
  if (lines.length === 0) return;
  const hint = 'nothing is changed; pgscout --docs prints the comments of the database';
  throw new CommandError([...lines.map(({ line, text }) => `${name}:${line}: ${text}`), `${name}: ${hint}`].join('\n'));
}

function noteOutdated({ stderr }: ProcessContext, { outdated: [first, ...others] }: Comparison): void {
  if (first === undefined) return;
  const rest = others.length === 0 ? '' : ` and ${others.length} more`;
  stderr.write(
    `the file is older than the database, and keeps these as they are: ${escapeControlCharacters(first.id)}${rest}\n`,
  );
}

/** An empty comment removes that of the object. */
function commentStatement({ object: { target }, text }: Edit): string {
  return visibleSql(`COMMENT ON ${target} IS ${text === null ? 'NULL' : quoteLiteral(text)}`);
}

/** @throws CommandError without consent */
async function askForConsent(process: ProcessContext, count: number, hasConsent: boolean): Promise<void> {
  if (hasConsent) return;
  if (!process.isInteractive) {
    throw new CommandError('nothing is changed: without a terminal, --yes runs the statements');
  }
  const statements = count === 1 ? 'this statement' : `these ${count} statements`;
  if (!(await confirm(process, `Run ${statements} in one transaction?`))) throw new CommandError('nothing is changed');
}

/** Between the first look and the consent, comments may have changed again. */
async function runStatements(client: Client, edits: readonly Edit[]): Promise<void> {
  await client.query(`begin; set local search_path = ''`);
  try {
    const current = new Map((await readComments(client)).map(({ id, comment }) => [id, comment]));
    const changed = edits.find(({ object: { id, comment } }) => current.get(id) !== comment);
    if (changed !== undefined) {
      throw new CommandError(
        `nothing is changed: the comment of ${changed.object.id} has just changed in the database`,
      );
    }
    for (const edit of edits) await runStatement(client, edit);
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
  await commit(client);
}

/** A connection that is lost here does not tell whether the server has committed. */
async function commit(client: Client): Promise<void> {
  try {
    await client.query('commit');
  } catch (error) {
    if (!(error instanceof Error) || 'severity' in error) throw error;
    throw new CommandError(
      `the connection was lost at the end of the transaction (${error.message}); run the command again: it prints the comments that are missing`,
    );
  }
}

/** @throws CommandError that names the object, for an error of the server */
async function runStatement(client: Client, edit: Edit): Promise<void> {
  try {
    await client.query(commentStatement(edit));
  } catch (error) {
    if (!(error instanceof Error && 'severity' in error)) throw error;
    throw new CommandError(`nothing is changed: the server reports for ${edit.object.id}: ${error.message}`);
  }
}

/** Writes the digests of the new comments to the markers, so that they can be edited again. */
async function updateFile(
  { workingDirectory, stderr }: ProcessContext,
  name: string,
  { text, comments }: Document,
  edits: readonly Edit[],
): Promise<void> {
  const lines = new Set(edits.map(({ object }) => object.id));
  let content = '';
  let end = 0;
  for (const { id, text: comment, digestRange } of comments) {
    if (!lines.has(id)) continue;
    content += `${text.slice(end, digestRange[0])}${digest(comment)}`;
    [, end] = digestRange;
  }
  const file = { path: name, content: `${content}${text.slice(end)}`, timestampLines: [] };
  try {
    await writeFiles([file], { folder: workingDirectory, overwrite: true });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    stderr.write(`${escapeControlCharacters(error.message)}; write the file again with pgscout --docs\n`);
  }
}
