import { parseArgs } from 'node:util';
import type { Command } from '../command/command.ts';
import { connectionParts, type OptionName, options } from '../command/options.ts';
import { commands } from './commands.ts';
import { UsageError } from '../process/errors.ts';

export interface Arguments {
  readonly command: Command;
  readonly operands: readonly string[];
  /** A flag has an empty text. */
  readonly options: ReadonlyMap<OptionName, string>;
}

const aliases: ReadonlyMap<string, string> = new Map(
  commands.flatMap((command) => command.aliases.map((alias) => [alias, `--${command.name}`])),
);

const declared: Readonly<Record<string, { readonly type: 'boolean' | 'string'; readonly short?: string }>> =
  Object.fromEntries([
    ...commands.map(({ name }) => [name, { type: 'boolean' }] as const),
    ...Object.entries(options).map(
      ([name, { short, value }]) =>
        [name, { type: value === null ? 'boolean' : 'string', ...(short === null ? {} : { short }) }] as const,
    ),
  ]);

type Token = NonNullable<ReturnType<typeof tokenize>>[number];

/**
 * Splits the arguments. `parseArgs` knows no optional values: the operand of a command is a positional argument or follows `=`.
 * Its strict mode stops at the first error without a suggestion, so that the names are checked here.
 */
function tokenize(argv: readonly string[]) {
  const args = argv.map((word, index) =>
    isValue(argv, index) || isHost(argv, index) ? word : (aliases.get(word) ?? word),
  );
  return parseArgs({ args, options: declared, allowPositionals: true, strict: false, tokens: true }).tokens;
}

/** The switches that the next word belongs to. */
const switchesWithValue: ReadonlySet<string> = new Set(
  Object.entries(options).flatMap(([name, { short, value }]) => (value === null ? [] : [`--${name}`, `-${short}`])),
);

/** `-h` names a server, as with psql, when a name follows; otherwise it is the help. */
function isHost(argv: readonly string[], index: number): boolean {
  const next = argv[index + 1];
  return argv[index] === '-h' && next !== undefined && !next.startsWith('-');
}

/** Whether the word is after `--`, or the value of the option before it. */
function isValue(argv: readonly string[], index: number): boolean {
  if (argv.slice(0, index).includes('--')) return true;
  const before = argv[index - 1] ?? '';
  return switchesWithValue.has(before) && (before !== '-h' || isHost(argv, index - 1));
}

/** @throws UsageError */
export async function parseArguments(argv: readonly string[]): Promise<Arguments> {
  const tokens = tokenize(argv);
  const words = tokens.filter((token) => token.kind === 'option');
  for (const word of words) await checkOption(word);
  const chosen = commands.filter(({ name }) => words.some((word) => word.name === name));
  const positional = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  if (chosen.length === 0) await checkWord(positional[0]);
  const command = selectCommand(chosen);
  const own = tokens.flatMap((token) => operandOf(token, command));
  // The help of a command has the name of the command as its operand.
  const operands =
    command.name === 'help' ? [...chosen.filter(({ name }) => name !== 'help').map(({ name }) => name), ...own] : own;
  checkOperands(command, operands);
  return { command, operands, options: optionsOf(words, command) };
}

/** A command without its hyphens. @throws UsageError */
async function checkWord(word: string | undefined): Promise<void> {
  if (word === undefined) return;
  const { nearest } = await import('../process/nearest.ts');
  const names = commands.map(({ name }) => name);
  const near = names.includes(word) ? `; did you mean --${word}?` : nearest(word, names, (name) => `--${name}`);
  if (near !== '') throw new UsageError(`no command${near}`);
}

function selectCommand(chosen: readonly Command[]): Command {
  const [command, second] = chosen;
  if (command === undefined) throw new UsageError('no command; pgscout --help lists them');
  // `pgscout --list --help` asks for the help.
  const information = chosen.find(({ name }) => name === 'help' || name === 'version');
  if (information !== undefined) return information;
  if (second !== undefined) throw new UsageError(`--${command.name} and --${second.name}: pass only one command`);
  return command;
}

type OptionToken = Extract<Token, { readonly kind: 'option' }>;

/** Checks that the switch exists, and has a value exactly when it takes one. */
async function checkOption({ name, rawName, value }: OptionToken): Promise<void> {
  const takesValue = options[name as OptionName]?.value;
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined && takesValue === undefined) {
    const { nearest } = await import('../process/nearest.ts');
    const names = Object.keys(declared);
    throw new UsageError(`unknown switch ${JSON.stringify(rawName)}${nearest(name, names, (near) => `--${near}`)}`);
  }
  if (typeof takesValue === 'string' && (value === undefined || value === '')) {
    throw new UsageError(`--${name}: needs a value, as in --${name}=<${takesValue}>`);
  }
  if (takesValue === null && value !== undefined) throw new UsageError(`--${name}: takes no value`);
}

/** Returns the positional argument, or the text after `=` of the command. */
function operandOf(token: Token, command: Command): readonly string[] {
  if (token.kind === 'positional') return [token.value];
  return token.kind === 'option' && token.name === command.name && token.value !== undefined ? [token.value] : [];
}

function checkOperands({ name, operand }: Command, operands: readonly string[]): void {
  if (name === 'help' || name === 'version') return;
  if (operand === null && operands.length > 0) {
    throw new UsageError(`unexpected argument ${JSON.stringify(operands[0])}: --${name} takes none`);
  }
  if (operand !== null && !operand.isOptional && operands.every((text) => text.trim() === '')) {
    throw new UsageError(`--${name}: needs an argument, as in --${name} <${operand.name}>`);
  }
}

function takesOption({ options: own }: Command, option: OptionName): boolean {
  return own.includes(option) || (own.includes('connection') && connectionParts.some((part) => part === option));
}

function optionsOf(words: readonly OptionToken[], command: Command): ReadonlyMap<OptionName, string> {
  const found = new Map<OptionName, string>();
  for (const { name, value = '' } of words) {
    if (!Object.hasOwn(options, name)) continue;
    const option = name as OptionName;
    if (!['help', 'version'].includes(command.name) && !takesOption(command, option)) {
      throw new UsageError(`--${option}: not an option of --${command.name}`);
    }
    found.set(option, value);
  }
  return found;
}
