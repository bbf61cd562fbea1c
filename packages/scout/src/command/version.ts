import { readFileSync } from 'node:fs';
import { packageFolder } from '../package-folder.ts';
import type { CommandContext } from './command-context.ts';

/** Returns the version of this package. */
export function version(): string {
  const text = readFileSync(new URL('package.json', packageFolder), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

export function runVersion({ process }: CommandContext): number {
  process.stdout.write(`${version()}\n`);
  return 0;
}
