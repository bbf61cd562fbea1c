import { ConfigurationError } from '../config/configuration-error.ts';
import type { Override } from '../config/layers.ts';

/** What needs a configuration and a database. `compare` is `generate --check`, `watch` is `generate --watch`. */
export type Action = 'serve' | 'check' | 'generate' | 'compare' | 'watch';

export interface Arguments {
  readonly action: Action | 'help' | 'version';
  readonly file: string | null;
  readonly overrides: readonly Override[];
}

/** The options that are no settings. */
export const ownOptions = ['help', 'version', 'check', 'watch', 'config'] as const;

const short: Readonly<Record<string, string>> = {
  '-h': '--help',
  '-?': '--help',
  '-v': '--version',
  '-V': '--version',
};

/** An argument in its parts: a file, or an option with or without a value. */
type Part =
  | { readonly kind: 'file'; readonly name: string }
  | { readonly kind: 'option'; readonly key: string; readonly value: string | null };

function partOf(written: string): Part {
  const argument = short[written] ?? written;
  if (!argument.startsWith('-')) return { kind: 'file', name: argument };
  const equals = argument.indexOf('=');
  const name = equals === -1 ? argument : argument.slice(0, equals);
  const value = equals === -1 ? null : argument.slice(equals + 1);
  return { kind: 'option', key: name.startsWith('--') ? name.slice(2) : name, value };
}

/**
 * Reads what stands after `pgway`.
 * @throws ConfigurationError for what is no option and no file
 */
export function readArguments(argv: readonly string[]): Arguments {
  const issues: string[] = [];
  // The first word may be what to do; a file of that name is given with a path: ./generate.
  const generates = argv[0] === 'generate';
  const files: string[] = [];
  const flags = new Set<string>();
  const overrides: Override[] = [];
  for (const part of argv.slice(generates ? 1 : 0).map(partOf)) {
    if (part.kind === 'file') files.push(part.name);
    else if (part.key === 'config') readFileOption(part.value, files, issues);
    else if (!ownOptions.some((option) => option === part.key)) overrides.push(part);
    else if (part.value === null) flags.add(part.key);
    else issues.push(`--${part.key}: takes no value`);
  }
  issues.push(...contradictions(files, flags, generates));
  if (issues.length > 0) throw new ConfigurationError(issues);
  return { action: actionOf(flags, generates), file: files[0] ?? null, overrides };
}

function contradictions(files: readonly string[], flags: ReadonlySet<string>, generates: boolean): readonly string[] {
  return [
    ...(flags.has('watch') && !generates && !files.includes('generate') ? ['--watch: is for pgway generate'] : []),
    ...(flags.has('watch') && flags.has('check') ? ['--check and --watch: only one of them can be given'] : []),
    // Anywhere else the word is taken for a file, whose name would be written as ./generate.
    ...(files.includes('generate') ? ['generate: comes first, as in pgway generate --watch'] : []),
    ...(files.length > 1 && !files.includes('generate')
      ? [`only one configuration file can be given, not ${files.join(' and ')}`]
      : []),
  ];
}

function readFileOption(value: string | null, files: string[], issues: string[]): void {
  if (value === null || value === '') issues.push('--config: needs a file, as in --config=pgway.json');
  else files.push(value);
}

function actionOf(flags: ReadonlySet<string>, generates: boolean): Arguments['action'] {
  if (flags.has('help')) return 'help';
  if (flags.has('version')) return 'version';
  if (generates && flags.has('check')) return 'compare';
  if (generates) return flags.has('watch') ? 'watch' : 'generate';
  return flags.has('check') ? 'check' : 'serve';
}
