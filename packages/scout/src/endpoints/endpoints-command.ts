/** `pgscout --endpoints [filter]`: the endpoint of each routine, with the reasons. */
import {
  explanationsJson,
  explanationsText,
  hasError,
  nearestExplanation,
  selectExplanations,
} from '@pgway/core/explanation';
import { escapeControlCharacters } from '@pgway/core/terminal';
import type { CommandContext } from '../command/command-context.ts';
import { CommandError } from '../process/errors.ts';
import { highlight, textExpression } from '../output/highlight.ts';
import { readExplanations } from './read-explanations.ts';

/** Returns 1 when a comment has an error. Throws a CommandError when no endpoint matches. */
export async function runEndpoints(context: CommandContext): Promise<number> {
  const { process, operands, options } = context;
  const filter = operands.join(' ').trim() || null;
  const { explanations, warnings } = await readExplanations(context);
  for (const warning of warnings) process.stderr.write(`warning: ${escapeControlCharacters(warning)}\n`);
  const shown = selectExplanations(explanations, filter, options.has('all'));
  if (options.has('json')) process.stdout.write(explanationsJson(shown));
  else {
    const text = explanationsText(shown, process.columns ?? Number.POSITIVE_INFINITY);
    process.stdout.write(highlight(text, textExpression(filter ?? ''), process.hasColors));
  }
  if (shown.length > 0) return shown.some(hasError) ? 1 : 0;
  if (filter === null) throw new CommandError('no routine has an endpoint; --all prints the reasons');
  const near = nearestExplanation(explanations, filter);
  const hint = near === null ? '--all prints all routines' : `did you mean ${near}?`;
  throw new CommandError(`no endpoint and no routine matches ${JSON.stringify(filter)}; ${hint}`);
}
