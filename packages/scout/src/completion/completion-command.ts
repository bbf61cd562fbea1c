/** `pgscout --completion <shell>`: a script that completes switches, from the table of commands. */
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

/** Returns the command that prints the script for these commands. */
export function createCompletion(commands: readonly Command[]): RunCommand {
  return ({ process, operands: [shell = ''] }) => {
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

function isShell(name: string): name is keyof typeof scripts {
  return Object.hasOwn(scripts, name);
}

/** Files are completed too, for `--execute` and `--restore`. */
function bashScript(words: readonly Word[]): string {
  return `_pgscout() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
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
  if [[ "$words[CURRENT]" == -* ]]; then _describe 'switch' switches; else _files; fi
}
compdef _pgscout pgscout
`;
}

function fishScript(words: readonly Word[]): string {
  const lines = words.map(
    ({ text, description }) => `complete -c pgscout -l ${text.slice(2)} -d '${quoteForShell(description)}'`,
  );
  return `${lines.join('\n')}\n`;
}

function quoteForShell(text: string): string {
  return text.replaceAll("'", String.raw`'\''`);
}
