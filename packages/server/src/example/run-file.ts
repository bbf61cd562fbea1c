import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from 'pg';

/** The example cannot be made or changed; the message names the file. */
export class ExampleError extends Error {
  override readonly name = 'ExampleError';
}

/**
 * Runs the statements of a file.
 * @param what stands before the reason in the message: `the example database cannot be made`
 * @returns the text of the file
 * @throws ExampleError naming the file, and its line where PostgreSQL tells a position
 */
export async function runFile(client: Client, file: URL, what: string): Promise<string> {
  const text = await readFile(file, 'utf8');
  try {
    await client.query(text);
    return text;
  } catch (error) {
    const { position, message } = error as Error & { readonly position?: string };
    const line = position === undefined ? '' : `:${lineOf(text, Number(position))}`;
    throw exampleError(`${what}: ${fileURLToPath(file)}${line}: ${message};`, error);
  }
}

/** @param reason ends with what else can be done, and its punctuation */
export function exampleError(reason: string, cause: unknown): ExampleError {
  return new ExampleError(`${reason} start with --embedded.example=false to go without it`, { cause });
}

/** @param position in characters, from 1, as PostgreSQL counts them */
function lineOf(text: string, position: number): number {
  const before = Array.from(text).slice(0, position - 1);
  return before.filter((character) => character === '\n').length + 1;
}
