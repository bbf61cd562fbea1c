import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CommandError } from '../process/errors.ts';
import { type FileComment, parseDocument } from './parse-document.ts';

const knownVersion = 1;

/** A dictionary file. */
export interface Document {
  readonly text: string;
  readonly comments: readonly FileComment[];
}

/**
 * Reads a dictionary file; null when it does not exist.
 * @throws CommandError for a file that is not a dictionary, and for damaged markers, each with its line
 */
export async function readDocument(folder: string, name: string): Promise<Document | null> {
  const text = await readText(resolve(folder, name), name);
  if (text === null) return null;
  const { version, comments, errors } = parseDocument(text);
  if (version === null) {
    throw new CommandError(`${name}: not a dictionary: it does not have the first line that pgscout --docs writes`);
  }
  if (version > knownVersion)
    throw new CommandError(`${name}: written by a later version of pgscout; install that one`);
  if (errors.length === 0) return { text, comments };
  const lines = errors.map(({ line, message }) => `${name}:${line}: ${message}`);
  throw new CommandError([...lines, `${name}: nothing is changed; correct the lines`].join('\n'));
}

async function readText(path: string, name: string): Promise<string | null> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new CommandError(`${name}: cannot read the file (${error.code})`);
  });
  if (bytes === null) return null;
  try {
    // Another encoding would damage the comments.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CommandError(`${name}: not a text in UTF-8; save it in that encoding`);
  }
}
