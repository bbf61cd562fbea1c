import { expect } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from './folder.ts';
import { createTestProcess } from './process-context.ts';

export const secret = 'c2VjcmV0IG9mIGEgdGVzdA';
export const environment = { PGWAY_DATA_PROTECTION_SECRET: secret };

/** The result of a command. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `pgway encrypt` with a text as standard input. */
export async function pipe(
  input: string,
  words: readonly string[] = [],
  variables: Readonly<Record<string, string>> = environment,
): Promise<Outcome> {
  const process = createTestProcess(await folderWith(), null, input);
  const code = await run(['encrypt', ...words], variables, process);
  return { code, ...process.text };
}

/** Returns the encrypted value of a text. */
export async function encrypt(text: string, words?: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await pipe(text, words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.trimEnd();
}
