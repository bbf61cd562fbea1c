import { ConfigurationError } from '../config/configuration-error.ts';
import type { Override } from '../config/layers.ts';

/** A command that needs a configuration and a database. `serve` is the program without a command. */
export type DatabaseCommand = 'serve' | 'generate' | 'validate';
export type Command = DatabaseCommand | 'hash';

const flagNames = ['check', 'watch', 'verify'] as const;

/** An option of a command that is not a setting. It takes no value. */
export type Flag = (typeof flagNames)[number];

export interface Arguments {
  readonly command: Command | 'help' | 'version';
  readonly flags: ReadonlySet<Flag>;
  readonly file: string | null;
  /** The endpoints that `pgway endpoints` shows; null: all. */
  readonly filter: string | null;
  readonly overrides: readonly Override[];
}

interface Syntax {
  readonly flags: readonly Flag[];
  /** The meaning of an argument that is not an option. */
  readonly argument: 'file' | 'filter' | null;
}

const syntaxes: Readonly<Record<Command, Syntax>> = {
  serve: { flags: [], argument: 'file' },
  generate: { flags: ['check', 'watch'], argument: 'file' },
  validate: { flags: [], argument: 'file' },
  hash: { flags: ['verify'], argument: null },
};

/** The words that select a command. */
export const commandNames: readonly string[] = Object.keys(syntaxes).filter((name) => name !== 'serve');

const isCommand = (word: string): boolean => commandNames.includes(word);

/** Options that are not settings. */
export const programOptions: readonly string[] = ['help', 'version', 'config', ...flagNames];

const shortOptions: Readonly<Record<string, string>> = {
  '-h': '--help',
  '-?': '--help',
  '-v': '--version',
  '-V': '--version',
};

type Argument =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'option'; readonly key: string; readonly value: string | null };

function parseArgument(word: string): Argument {
  const text = shortOptions[word] ?? word;
  if (!text.startsWith('-')) return { kind: 'word', text };
  const equals = text.indexOf('=');
  const name = equals === -1 ? text : text.slice(0, equals);
  const value = equals === -1 ? null : text.slice(equals + 1);
  return { kind: 'option', key: name.startsWith('--') ? name.slice(2) : name, value };
}

/** The arguments after the command, before they are checked. */
interface Words {
  readonly words: readonly string[];
  readonly files: readonly string[];
  readonly flags: ReadonlySet<string>;
  readonly overrides: readonly Override[];
  readonly issues: readonly string[];
}

function readWords(argv: readonly string[]): Words {
  const words: string[] = [];
  const files: string[] = [];
  const flags = new Set<string>();
  const overrides: Override[] = [];
  const issues: string[] = [];
  for (const argument of argv.map(parseArgument)) {
    if (argument.kind === 'word') words.push(argument.text);
    else if (argument.key === 'config') addFile(argument.value, files, issues);
    else if (!programOptions.includes(argument.key)) overrides.push(argument);
    else if (argument.value === null) flags.add(argument.key);
    else issues.push(`--${argument.key}: takes no value`);
  }
  return { words, files, flags, overrides, issues };
}

function addFile(value: string | null, files: string[], issues: string[]): void {
  if (value === null || value === '') issues.push('--config: needs a file, as in --config=pgway.json');
  else files.push(value);
}

/**
 * Parses the command line. Own code: `util.parseArgs` accepts declared options only, and every setting is an option here.
 * @throws ConfigurationError
 */
export function parseArguments(argv: readonly string[]): Arguments {
  // A configuration file of this name is passed as ./generate.
  const command = isCommand(argv[0] ?? '') ? (argv[0] as Command) : 'serve';
  const parsed = readWords(argv.slice(command === 'serve' ? 0 : 1));
  const { words, flags, overrides } = parsed;
  const information = (['help', 'version'] as const).find((name) => flags.has(name));
  const { argument } = syntaxes[command];
  const files = [...(argument === 'file' ? words : []), ...parsed.files];
  const issues = [...parsed.issues, ...(information === undefined ? findIssues(command, parsed, files) : [])];
  if (issues.length > 0) throw new ConfigurationError(issues);
  return {
    command: information ?? command,
    flags: new Set(flagNames.filter((name) => flags.has(name))),
    file: files[0] ?? null,
    filter: argument === 'filter' ? (words[0] ?? null) : null,
    overrides,
  };
}

function findIssues(command: Command, { words, flags, overrides }: Words, files: readonly string[]): readonly string[] {
  if (command === 'hash') return [...flagIssues(command, flags), ...hashIssues([...words, ...files], overrides)];
  const isMisplaced = words.some(isCommand);
  return [
    ...(isMisplaced ? [] : flagIssues(command, flags)),
    ...wordIssues(words, syntaxes[command].argument),
    ...(isMisplaced ? [] : fileIssues(files)),
  ];
}

function flagIssues(command: Command, flags: ReadonlySet<string>): readonly string[] {
  const allowed: readonly string[] = syntaxes[command].flags;
  const misplaced = flagNames.filter((name) => flags.has(name) && !allowed.includes(name));
  return [
    ...misplaced.map((name) => `--${name}: only valid as in ${validUses(name)}`),
    ...(flags.has('watch') && flags.has('check') ? ['--check and --watch: pass only one of them'] : []),
  ];
}

/** Returns the commands that take the flag: `pgway --watch or pgway generate --watch`. */
function validUses(flag: Flag): string {
  const uses = Object.entries(syntaxes).flatMap(([name, { flags }]) =>
    flags.includes(flag) ? [`pgway ${name === 'serve' ? '' : `${name} `}--${flag}`] : [],
  );
  const other = flag === 'check' ? '; pgway validate checks configuration, database and comments' : '';
  return `${uses.join(' or ')}${other}`;
}

/** Arguments are visible to other users of the machine, in lists of processes: a password must not be one. */
function hashIssues(words: readonly string[], overrides: readonly Override[]): readonly string[] {
  if (words.length === 0 && overrides.length === 0) return [];
  return [
    'hash: takes no password as argument, because other users of this machine can read arguments; run pgway hash in a terminal, or pass the password to its standard input',
  ];
}

function wordIssues(words: readonly string[], argument: Syntax['argument']): readonly string[] {
  if (argument === 'filter' && words.length > 1) {
    return [`endpoints: takes one filter, not ${words.length}; pass the configuration file as --config=<file>`];
  }
  if (argument !== 'file') return [];
  const misplaced = words.find(isCommand);
  return misplaced === undefined ? [] : [`${misplaced}: must be the first argument, as in pgway ${misplaced}`];
}

function fileIssues(files: readonly string[]): readonly string[] {
  if (files.length < 2) return [];
  return [`more than one configuration file: ${files.join(' and ')}; pass only one`];
}
