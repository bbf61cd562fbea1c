import { ConfigurationError } from '../config/configuration-error.ts';
import type { NamedFile } from '../config/configuration-files.ts';
import type { Override } from '../config/layers.ts';
import { switchIssues } from './init/choices.ts';

/** A command that needs a configuration and a database. `serve` is the program without a command. */
export type DatabaseCommand = 'serve' | 'generate' | 'validate' | 'endpoints' | 'test' | 'install';
export type Command = DatabaseCommand | 'config' | 'encrypt' | 'hash' | 'init';

const flagNames = [
  'all',
  'check',
  'complete',
  'coverage',
  'decrypt',
  'force',
  'json',
  'junit',
  'print',
  'tap',
  'uninstall',
  'verify',
  'watch',
  'yes',
] as const;

/** An option of a command that is not a setting. It takes no value. */
export type Flag = (typeof flagNames)[number];

export interface Arguments {
  readonly command: Command | 'help' | 'version';
  readonly flags: ReadonlySet<Flag>;
  /** The configuration files, in order. */
  readonly files: readonly NamedFile[];
  /** The endpoints that `pgway endpoints` shows, the tests that `pgway test` runs, or the settings that `--help` prints; null: all. */
  readonly filter: string | null;
  /** What `pgway install` creates, and the names after that. Empty for other commands. */
  readonly operands: readonly string[];
  readonly overrides: readonly Override[];
}

interface Syntax {
  readonly flags: readonly Flag[];
  /** The meaning of an argument that is not an option. */
  readonly argument: 'file' | 'filter' | 'operands' | null;
}

const syntaxes: Readonly<Record<Command, Syntax>> = {
  serve: { flags: ['watch'], argument: 'file' },
  generate: { flags: ['check', 'watch'], argument: 'file' },
  validate: { flags: [], argument: 'file' },
  config: { flags: ['all', 'json'], argument: 'file' },
  init: { flags: ['all', 'force', 'yes'], argument: 'file' },
  endpoints: { flags: ['all', 'json'], argument: 'filter' },
  test: { flags: ['complete', 'coverage', 'junit', 'tap', 'yes'], argument: 'filter' },
  install: { flags: ['print', 'uninstall', 'yes'], argument: 'operands' },
  hash: { flags: ['verify'], argument: null },
  encrypt: { flags: ['decrypt'], argument: null },
};

/** The words that select a command. */
export const commandNames: readonly string[] = Object.keys(syntaxes).filter((name) => name !== 'serve');

const isCommand = (word: string): boolean => commandNames.includes(word);

/** Options that are not settings. */
export const programOptions: readonly string[] = ['help', 'version', 'config', 'optional-config', ...flagNames];

/** The options that name a configuration file, and whether it may be missing. */
const fileOptions: Readonly<Record<string, { readonly optional: boolean }>> = {
  config: { optional: false },
  'optional-config': { optional: true },
};

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

/** Joins `--config a.json` to `--config=a.json`. */
function joinFileOptions(argv: readonly string[]): readonly string[] {
  const isFileOption = (word: string = ''): boolean =>
    word.startsWith('--') && Object.hasOwn(fileOptions, word.slice(2));
  const isFile = (word: string = '-'): boolean => !word.startsWith('-');
  return argv.flatMap((word, index) => {
    if (isFile(word) && isFileOption(argv[index - 1])) return [];
    return isFileOption(word) && isFile(argv[index + 1]) ? [`${word}=${argv[index + 1]}`] : [word];
  });
}

/** A configuration file of an option, or an argument that is not an option. */
interface Word extends NamedFile {
  readonly isOption: boolean;
}

/** The arguments after the command, before they are checked. */
interface Words {
  readonly words: readonly Word[];
  readonly flags: ReadonlySet<string>;
  readonly overrides: readonly Override[];
  readonly issues: readonly string[];
}

function readWords(argv: readonly string[]): Words {
  const words: Word[] = [];
  const flags = new Set<string>();
  const overrides: Override[] = [];
  const issues: string[] = [];
  const parsed = joinFileOptions(argv).map(parseArgument);
  for (const [index, argument] of parsed.entries()) {
    if (argument.kind === 'word') words.push({ name: argument.text, optional: false, isOption: false });
    else if (Object.hasOwn(fileOptions, argument.key)) addFile(argument, words, issues);
    else if (!programOptions.includes(argument.key)) {
      const next = parsed[index + 1];
      overrides.push(next?.kind === 'word' ? { ...argument, next: next.text } : argument);
    } else if (argument.value === null) flags.add(argument.key);
    else issues.push(`--${argument.key}: takes no value`);
  }
  return { words, flags, overrides, issues };
}

function addFile({ key, value }: Override, words: Word[], issues: string[]): void {
  if (value === null || value === '') issues.push(`--${key}: needs a file, as in --${key}=pgway.json`);
  else words.push({ name: value, isOption: true, ...fileOptions[key]! });
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
  const files = words.filter(({ isOption }) => isOption || argument === 'file');
  const issues = [...parsed.issues, ...(information === undefined ? findIssues(command, parsed) : [])];
  if (issues.length > 0) throw new ConfigurationError(issues);
  return {
    command: information ?? command,
    flags: new Set(flagNames.filter((name) => flags.has(name))),
    files,
    filter: argument === 'filter' || information === 'help' ? (namesOf(words)[0] ?? null) : null,
    operands: argument === 'operands' ? namesOf(words) : [],
    overrides,
  };
}

/** Returns the arguments that are not options. */
function namesOf(words: readonly Word[]): readonly string[] {
  return words.filter(({ isOption }) => !isOption).map(({ name }) => name);
}

function findIssues(command: Command, { words, flags, overrides }: Words): readonly string[] {
  if (command === 'hash') return [...flagIssues(command, flags), ...hashIssues(words, overrides)];
  const names = namesOf(words);
  return [
    ...(names.some(isCommand) ? [] : flagIssues(command, flags)),
    ...wordIssues(names, command),
    ...(command === 'install' ? installIssues(names, flags) : []),
    ...(command === 'init' ? initIssues(words, flags, overrides) : []),
    ...(command === 'encrypt' ? encryptIssues(names) : []),
  ];
}

function initIssues(
  words: readonly Word[],
  flags: ReadonlySet<string>,
  overrides: readonly Override[],
): readonly string[] {
  return [
    ...switchIssues(overrides),
    ...(flags.has('all') && overrides.length > 0
      ? [`--all and --${overrides[0]!.key}: pass only one of them; --all writes the configuration file only`]
      : []),
    ...(words.length > 1 ? [`init: writes one file, not ${words.length}; pass only one`] : []),
  ];
}

function flagIssues(command: Command, flags: ReadonlySet<string>): readonly string[] {
  const allowed: readonly string[] = syntaxes[command].flags;
  const misplaced = flagNames.filter((name) => flags.has(name) && !allowed.includes(name));
  return [
    ...misplaced.map((name) => `--${name}: only valid as in ${validUses(name)}`),
    ...(flags.has('watch') && flags.has('check') ? ['--check and --watch: pass only one of them'] : []),
    ...(flags.has('junit') && flags.has('tap') ? ['--junit and --tap: pass only one of them'] : []),
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
function hashIssues(words: readonly Word[], overrides: readonly Override[]): readonly string[] {
  if (words.length === 0 && overrides.length === 0) return [];
  return [
    'hash: takes no password as argument, because other users of this machine can read arguments; run pgway hash in a terminal, or pass the password to its standard input',
  ];
}

function encryptIssues(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  return [
    'encrypt: takes no value as argument, because other users of this machine can read arguments; run pgway encrypt in a terminal, or pass the value to its standard input. A configuration file is --config=<file>',
  ];
}

/** What `pgway install` creates. */
const installParts = ['watch', 'idempotency', 'changes', 'realtime'] as const;
export type InstallPart = (typeof installParts)[number];

function installIssues([part, ...names]: readonly string[], flags: ReadonlySet<string>): readonly string[] {
  const isKnown = installParts.some((known) => known === part);
  return [
    ...(isKnown
      ? []
      : [
          `install: takes ${installParts.slice(0, -1).join(', ')} or ${installParts.at(-1)!}${part === undefined ? '' : `, not ${JSON.stringify(part)}`}`,
        ]),
    ...(part === 'watch' && names.length > 1
      ? [`install watch: takes one schema, not ${names.length}; pass the configuration file as --config=<file>`]
      : []),
    ...(flags.has('print') && flags.has('yes') ? ['--print and --yes: pass only one of them'] : []),
  ];
}

function wordIssues(words: readonly string[], command: Command): readonly string[] {
  const { argument } = syntaxes[command];
  if (argument === 'filter' && words.length > 1) {
    return [`${command}: takes one filter, not ${words.length}; pass the configuration file as --config=<file>`];
  }
  if (argument !== 'file') return [];
  const misplaced = words.find(isCommand);
  return misplaced === undefined ? [] : [`${misplaced}: must be the first argument, as in pgway ${misplaced}`];
}
