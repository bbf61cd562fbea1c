/** `pgscout --docs [name;…]`: a dictionary of the database in Markdown. */
import { writeFiles } from '@pgway/generators/files';
import { escapeControlCharacters } from '@pgway/core/terminal';
import type { Client } from 'pg';
import { type DatabaseObject, readObjects } from '../catalog/objects.ts';
import { inSnapshot } from '../catalog/snapshot.ts';
import type { CommandContext } from '../command/command-context.ts';
import type { Connection } from '../connection/connection.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import { selectObjects, splitNames } from '../ddl/select-objects.ts';
import { printJson } from '../output/print-json.ts';
import { compareComments } from './compare-comments.ts';
import { commentedObjects, readDictionary, type SchemaEntry } from './dictionary.ts';
import { dictionaryJson } from './dictionary-json.ts';
import { documentText, type EndpointLookup } from './document-text.ts';
import { readDocument } from './read-document.ts';
import { readEndpoints } from './read-endpoints.ts';

/** Prints the dictionary, or writes it to a file whose comments are all in the database. */
export async function runDocs(context: CommandContext): Promise<number> {
  const { process, options, operands, progress, withConnection } = context;
  const output = options.get('output') ?? null;
  const isJson = options.has('json');
  if (isJson && output !== null) throw new UsageError('--output: the file is Markdown; leave out --json');
  const names = splitNames(operands);
  const read = async (connection: Connection): Promise<readonly [readonly SchemaEntry[], EndpointLookup]> => {
    const { client } = connection;
    const dictionary = await inSnapshot(client, async () => {
      const objects = await readObjects(client, progress);
      const selected = select(objects, names);
      if (output !== null) await checkFile(process.workingDirectory, output, client, objects);
      progress.show('reading columns, types and comments');
      return readDictionary(client, selected);
    });
    const { bySignature, warnings } = await readEndpoints(context, connection);
    for (const warning of warnings) process.stderr.write(`warning: ${escapeControlCharacters(warning)}\n`);
    return [dictionary, ({ gatewayName }) => bySignature.get(gatewayName) ?? null];
  };
  const [dictionary, endpointOf] = await withConnection(read);
  if (dictionary.length === 0) throw new CommandError('no schema, table, view, type or routine has such a name');
  if (isJson) printJson(process, dictionaryJson(dictionary, endpointOf));
  else await printText(process, output, documentText(dictionary, endpointOf));
  return 0;
}

async function printText(process: CommandContext['process'], output: string | null, text: string): Promise<void> {
  if (output === null) {
    process.stdout.write(text);
    return;
  }
  const file = { path: output, content: text, timestampLines: [] };
  const [written] = await writeFiles([file], { folder: process.workingDirectory, overwrite: true });
  const state = { missing: 'written', different: 'overwritten', same: 'unchanged' }[written!.state];
  process.stderr.write(`${escapeControlCharacters(output)}  ${state}\n`);
}

/** Selects the objects of the names; a schema with all that it contains. Without names, all objects. */
function select(objects: readonly DatabaseObject[], names: readonly string[]): readonly DatabaseObject[] {
  if (names.length === 0) return objects;
  const { objects: found, missing } = selectObjects(objects, names);
  if (missing.length > 0) throw new CommandError(missing.join('\n'));
  const schemas = new Set(found.filter(({ kind }) => kind === 'SCHEMA').map(({ name }) => name));
  const selected = new Set(found);
  return objects.filter((object) => selected.has(object) || (object.schema !== null && schemas.has(object.schema)));
}

/** @throws CommandError for a file that is not a dictionary, and for one with edited comments: they would be lost */
async function checkFile(
  folder: string,
  name: string,
  client: Client,
  objects: readonly DatabaseObject[],
): Promise<void> {
  const document = await readDocument(folder, name);
  if (document === null) return;
  const current = commentedObjects(await readDictionary(client, objects));
  const { edits, conflicts, unknown } = compareComments(document.comments, current);
  const [first] = [...edits, ...conflicts, ...unknown];
  if (first === undefined) return;
  const count = edits.length + conflicts.length + unknown.length;
  throw new CommandError(
    `${name}:${first.line}: ${count === 1 ? 'a comment is' : `${count} comments are`} edited, and not in the database; ` +
      `run pgscout --commit-docs ${name}, or remove the file`,
  );
}
