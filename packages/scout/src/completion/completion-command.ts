/** `pgscout --completion <shell>`: a script that completes switches, from the table of commands. */
import type { CommandContext } from '../cli/command-context.ts';
import { commands, options } from '../cli/commands.ts';
import { UsageError } from '../cli/errors.ts';
import { nearest } from '../cli/nearest.ts';

/** A switch with its description. */
interface Word {
  readonly text: string;
  readonly description: string;
}

const words: readonly Word[] = [
  ...commands.map(({ name, description }) => ({ text: `--${name}`, description })),
  ...Object.entries(options).map(([name, { description }]) => ({ text: `--${name}`, description })),
];

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
const shells: readonly string[] = Object.keys(scripts);

export function runCompletion({ process, operands: [shell = ''] }: CommandContext): number {
  if (!isShell(shell)) {
    throw new UsageError(
      `--completion: must be one of ${shells.join(', ')}, not ${JSON.stringify(shell)}${nearest(shell, shells)}`,
    );
  }
  process.stdout.write(scripts[shell]());
  return 0;
}

function isShell(name: string): name is keyof typeof scripts {
  return Object.hasOwn(scripts, name);
}

/** Files are completed too, for `--execute` and `--restore`. */
function bashScript(): string {
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

function zshScript(): string {
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

function fishScript(): string {
  const lines = words.map(
    ({ text, description }) => `complete -c pgscout -l ${text.slice(2)} -d '${quoteForShell(description)}'`,
  );
  return `${lines.join('\n')}\n`;
}

function quoteForShell(text: string): string {
  return text.replaceAll("'", String.raw`'\''`);
}
