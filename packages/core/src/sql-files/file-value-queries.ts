import { findQueryInputs, readValueQuery } from '../endpoints/value-query.ts';
import { analyzeSql } from '../catalog/statement-effects.ts';
import { faultAt, type FileFault } from './fault.ts';
import { isAnnotation } from './directives.ts';
import { type FileComment, maxFaults, type Placeholder } from './scan.ts';

/** A query in a comment, whose value a parameter of the file gets. Its places are those of the file. */
export interface FileValueQuery {
  /** The parameter, as the comment names it. */
  readonly target: string;
  readonly line: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly placeholders: readonly Placeholder[];
}

/** A file with more of them has several for one parameter, which is refused. */
const maxQueries = 1000;

interface FileValueQueries {
  readonly queries: readonly FileValueQuery[];
  readonly faults: readonly FileFault[];
}

/**
 * Reads the lines `param <name> = select …`, and `<name> = select …` of a known parameter.
 * @param isParameter whether a statement of the file has the parameter
 */
export function readFileValueQueries(
  text: string,
  comments: readonly FileComment[],
  isParameter: (name: string) => boolean,
): FileValueQueries {
  const queries: FileValueQuery[] = [];
  const faults: FileFault[] = [];
  for (const comment of comments) {
    if (queries.length >= maxQueries || faults.length >= maxFaults) break;
    if (!isAnnotation(comment)) continue;
    const [, keyword, rest] = /^(?:@\s*)?(param(?:eter)?\s+)?([^]*)$/i.exec(comment.text)!;
    const query = readValueQuery(rest!);
    if (query === null || (keyword === undefined && !isParameter(query.name))) continue;
    const start = comment.start + comment.text.length - query.text.length;
    const inputs = findInputs(query);
    if ('message' in inputs) {
      faults.push(faultAt(text, start + inputs.at, 'value-query', `param ${query.name}: ${inputs.message}`));
      continue;
    }
    const placeholders = inputs.map((input) => ({
      name: input.name,
      start: start + input.start,
      end: start + input.end,
    }));
    const end = start + query.text.length;
    queries.push({ target: query.name, line: comment.line, text: query.text, start, end, placeholders });
  }
  return { queries, faults };
}

function findInputs({
  name,
  text,
}: {
  readonly name: string;
  readonly text: string;
}): ReturnType<typeof findQueryInputs> {
  const inputs = findQueryInputs(text);
  if ('message' in inputs) return inputs;
  const itself = inputs.find((input) => input.name === name);
  return itself === undefined ? inputs : { at: itself.start, message: 'the query reads the parameter that it sets' };
}

const writing = /\b(?:insert|update|delete|merge|share|into)\b/i;

const escapedName = /\bu&"/i;

/** Whether a query has no word that writes. */
export function queryOnlyReads({ text }: Pick<FileValueQuery, 'text'>): boolean {
  return !writing.test(text) && !escapedName.test(text);
}

/** Returns all names in a query. */
export function listQueryNames({ text }: Pick<FileValueQuery, 'text'>): Iterable<string> {
  return analyzeSql(text).words;
}
