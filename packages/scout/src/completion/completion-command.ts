/** `pgscout --completion <shell>`: a script that completes switches, from the table of commands, and names of connections and objects. */
import { readObjects } from '../catalog/objects.ts';
import { inSnapshot } from '../catalog/snapshot.ts';
import type { CommandContext } from '../command/command-context.ts';
import type { Command, RunCommand } from '../command/command.ts';
import { options } from '../command/options.ts';
import { UsageError } from '../process/errors.ts';
import { nearest } from '../process/nearest.ts';

/** A switch with its description. */
interface Word {
  readonly text: string;
  readonly description: string;
}

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
const shells: readonly string[] = Object.keys(scripts);

/** The names that the scripts ask for. */
const nameLists = { connections: connectionNames, objects: objectNames } as const;

/** Returns the command that prints the script for these commands. */
export function createCompletion(commands: readonly Command[]): RunCommand {
  return async (context) => {
    const {
      process,
      operands: [shell = ''],
    } = context;
    if (isNameList(shell)) {
      process.stdout.write((await nameLists[shell](context)).map((name) => `${name}\n`).join(''));
      return 0;
    }
    if (!isShell(shell)) {
      throw new UsageError(
        `--completion: must be one of ${shells.join(', ')}, not ${JSON.stringify(shell)}${nearest(shell, shells)}`,
      );
    }
    process.stdout.write(scripts[shell](switches(commands)));
    return 0;
  };
}

function switches(commands: readonly Command[]): readonly Word[] {
  return [
    ...commands.map(({ name, description }) => ({ text: `--${name}`, description })),
    ...Object.entries(options).map(([name, { description }]) => ({ text: `--${name}`, description })),
  ];
}

function isNameList(name: string): name is keyof typeof nameLists {
  return Object.hasOwn(nameLists, name);
}

/** A name with a space or a character that shells and terminals interpret is not completed. */
const plainName = /^[\p{L}\p{N}_.-]+$/u;

async function connectionNames({ settings }: CommandContext): Promise<readonly string[]> {
  return [...(await settings()).connections.keys()].filter((name) => plainName.test(name));
}

async function objectNames({ withConnection }: CommandContext): Promise<readonly string[]> {
  const objects = await withConnection(({ client }) => inSnapshot(client, () => readObjects(client)));
  const names = objects.flatMap(({ schema, table, name }) =>
    table === null ? [schema === null ? name : `${schema}.${name}`] : [],
  );
  return [...new Set(names)].filter((name) => plainName.test(name));
}

function isShell(name: string): name is keyof typeof scripts {
  return Object.hasOwn(scripts, name);
}

/** Commands whose operands are names of objects. */
const takesObjects = '--ddl|-ddl|--docs|--inserts|--list|-l|-ls';

/** Files are completed too, for `--execute` and `--restore`. The program must not ask: its input is empty. */
function bashScript(words: readonly Word[]): string {
  return `_pgscout() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  case "$before" in
    -c|--connection|--scratch)
      COMPREPLY=($(compgen -W "$(pgscout --completion connections 2>/dev/null </dev/null)" -- "$word")); return ;;
    ${takesObjects})
      if [[ "$word" != -* ]]; then
        COMPREPLY=($(compgen -W "$(pgscout --completion objects 2>/dev/null </dev/null)" -- "$word")); return
      fi ;;
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W '${words.map(({ text }) => text).join(' ')}' -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -F _pgscout pgscout
`;
}

function zshScript(words: readonly Word[]): string {
  const lines = words.map(({ text, description }) => `    '${text}:${quoteForShell(description)}'`);
  return `#compdef pgscout
_pgscout() {
  local -a switches=(
${lines.join('\n')}
  )
  local -a names
  case "$words[CURRENT-1]" in
    -c|--connection|--scratch) names=(\${(f)"$(pgscout --completion connections 2>/dev/null </dev/null)"}); compadd -a names; return ;;
    ${takesObjects})
      if [[ "$words[CURRENT]" != -* ]]; then
        names=(\${(f)"$(pgscout --completion objects 2>/dev/null </dev/null)"}); compadd -a names; return
      fi ;;
  esac
  if [[ "$words[CURRENT]" == -* ]]; then _describe 'switch' switches; else _files; fi
}
compdef _pgscout pgscout
`;
}

function fishScript(words: readonly Word[]): string {
  const lines = words.map(
    ({ text, description }) => `complete -c pgscout -l ${text.slice(2)} -d '${quoteForShell(description)}'`,
  );
  const names = (list: string): string => `'(pgscout --completion ${list} 2>/dev/null </dev/null)'`;
  const lists = [
    ...['-s c -l connection', '-l scratch'].map((name) => `complete -c pgscout ${name} -x -a ${names('connections')}`),
    `complete -c pgscout -n '__fish_prev_arg_in --ddl --docs --inserts --list' -f -a ${names('objects')}`,
  ];
  return `${[...lines, ...lists].join('\n')}\n`;
}

function quoteForShell(text: string): string {
  return text.replaceAll("'", String.raw`'\''`);
}
