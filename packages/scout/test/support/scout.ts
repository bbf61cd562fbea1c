import { Readable } from 'node:stream';
import { escapeControlCharacters } from '@pgway/core/terminal';
import type { Environment } from '../../src/process/process-context.ts';
import { run } from '../../src/cli/run.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  readonly environment?: Environment;
  readonly folder?: string;
  readonly hasColors?: boolean;
}

/** Runs the program in this process, without a terminal, and returns all that it wrote. */
export async function scout(argv: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
  const text = { stdout: '', stderr: '' };
  const code = await run(argv, {
    stdin: Readable.from([]),
    stdout: {
      write: (part) => void (text.stdout += part),
      writeAll: (part) => {
        text.stdout += part;
        return Promise.resolve(true);
      },
      finish: () => Promise.resolve(),
    },
    stderr: { write: (part) => void (text.stderr += part) },
    hasColors: surroundings.hasColors ?? false,
    columns: null,
    errorColumns: null,
    isInteractive: false,
    onInterrupt: () => () => {},
    environment: surroundings.environment ?? {},
    workingDirectory: surroundings.folder ?? import.meta.dirname,
  });
  return { code, ...text };
}

/** Whether each line of a text has nothing that a terminal interprets, except tabs. */
export function isPlain(text: string): boolean {
  return text.split(/[\n\t]/).every((line) => escapeControlCharacters(line) === line);
}
