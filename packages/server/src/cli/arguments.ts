import { ConfigurationError } from '../config/configuration-error.ts';
import type { Override } from '../config/layers.ts';

export interface Arguments {
  readonly action: 'serve' | 'check' | 'help' | 'version';
  readonly file: string | null;
  readonly overrides: readonly Override[];
}

/** The options that are no settings. */
export const ownOptions = ['help', 'version', 'check', 'config'] as const;

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
  const files: string[] = [];
  const flags = new Set<string>();
  const overrides: Override[] = [];
  for (const part of argv.map(partOf)) {
    if (part.kind === 'file') files.push(part.name);
    else if (part.key === 'config') readFileOption(part.value, files, issues);
    else if (!ownOptions.some((option) => option === part.key)) overrides.push(part);
    else if (part.value === null) flags.add(part.key);
    else issues.push(`--${part.key}: takes no value`);
  }
  if (files.length > 1) issues.push(`only one configuration file can be given, not ${files.join(' and ')}`);
  if (issues.length > 0) throw new ConfigurationError(issues);
  return { action: actionOf(flags), file: files[0] ?? null, overrides };
}

function readFileOption(value: string | null, files: string[], issues: string[]): void {
  if (value === null || value === '') issues.push('--config: needs a file, as in --config=pgway.json');
  else files.push(value);
}

function actionOf(flags: ReadonlySet<string>): Arguments['action'] {
  if (flags.has('help')) return 'help';
  if (flags.has('version')) return 'version';
  return flags.has('check') ? 'check' : 'serve';
}
