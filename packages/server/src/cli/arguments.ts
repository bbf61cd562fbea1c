import { ConfigurationError } from '../config/configuration-error.ts';
import type { Override } from '../config/layers.ts';

/** A command that needs a configuration and a database. */
export type Command = 'serve' | 'check' | 'generate' | 'generate-check' | 'generate-watch';

export interface Arguments {
  readonly command: Command | 'help' | 'version';
  readonly file: string | null;
  readonly overrides: readonly Override[];
}

/** Options that are not settings. */
export const programOptions = ['help', 'version', 'check', 'watch', 'config'] as const;

const shortOptions: Readonly<Record<string, string>> = {
  '-h': '--help',
  '-?': '--help',
  '-v': '--version',
  '-V': '--version',
};

type Argument =
  | { readonly kind: 'file'; readonly name: string }
  | { readonly kind: 'option'; readonly key: string; readonly value: string | null };

function parseArgument(word: string): Argument {
  const text = shortOptions[word] ?? word;
  if (!text.startsWith('-')) return { kind: 'file', name: text };
  const equals = text.indexOf('=');
  const name = equals === -1 ? text : text.slice(0, equals);
  const value = equals === -1 ? null : text.slice(equals + 1);
  return { kind: 'option', key: name.startsWith('--') ? name.slice(2) : name, value };
}

/**
 * Parses the command line. Own code: `util.parseArgs` accepts declared options only, and every setting is an option here.
 * @throws ConfigurationError
 */
export function parseArguments(argv: readonly string[]): Arguments {
  const issues: string[] = [];
  // A configuration file of this name is passed as ./generate.
  const generates = argv[0] === 'generate';
  const files: string[] = [];
  const flags = new Set<string>();
  const overrides: Override[] = [];
  for (const argument of argv.slice(generates ? 1 : 0).map(parseArgument)) {
    if (argument.kind === 'file') files.push(argument.name);
    else if (argument.key === 'config') addFile(argument.value, files, issues);
    else if (!programOptions.some((option) => option === argument.key)) overrides.push(argument);
    else if (argument.value === null) flags.add(argument.key);
    else issues.push(`--${argument.key}: takes no value`);
  }
  issues.push(...conflicts(files, flags, generates));
  if (issues.length > 0) throw new ConfigurationError(issues);
  return { command: selectCommand(flags, generates), file: files[0] ?? null, overrides };
}

function conflicts(files: readonly string[], flags: ReadonlySet<string>, generates: boolean): readonly string[] {
  return [
    ...(flags.has('watch') && !generates && !files.includes('generate')
      ? ['--watch: only valid as in pgway generate --watch']
      : []),
    ...(flags.has('watch') && flags.has('check') ? ['--check and --watch: pass only one of them'] : []),
    ...(files.includes('generate') ? ['generate: must be the first argument, as in pgway generate --watch'] : []),
    ...(files.length > 1 && !files.includes('generate')
      ? [`more than one configuration file: ${files.join(' and ')}; pass only one`]
      : []),
  ];
}

function addFile(value: string | null, files: string[], issues: string[]): void {
  if (value === null || value === '') issues.push('--config: needs a file, as in --config=pgway.json');
  else files.push(value);
}

function selectCommand(flags: ReadonlySet<string>, generates: boolean): Arguments['command'] {
  if (flags.has('help')) return 'help';
  if (flags.has('version')) return 'version';
  if (generates && flags.has('check')) return 'generate-check';
  if (generates) return flags.has('watch') ? 'generate-watch' : 'generate';
  return flags.has('check') ? 'check' : 'serve';
}
