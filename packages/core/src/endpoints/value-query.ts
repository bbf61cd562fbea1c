import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { EndpointParameter, ValueQuery } from './endpoint.ts';
import { findParameter } from './parameters.ts';
import { unknownParameter } from './unknown-parameter.ts';

const beginning = /^(?:\(|(?:select|with|values|table)\b)/i;

/** Reads the words after `param`. Returns null for another line. */
export function readValueQuery(text: string): { readonly name: string; readonly text: string } | null {
  const [, name, query] = /^([^\s=:]+)\s*:?=\s*([^]*)$/.exec(text) ?? [];
  return name === undefined || !beginning.test(query!) ? null : { name, text: query! };
}

/** What a query is made of: literals, quoted names, comments, casts, parameters, and the symbols that structure it. */
const token =
  /[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(?<tag>[A-Za-z_]\w*)?\$[^]*?\$\k<tag>\$|--.*|\/\*[^]*?\*\/|::|:=|:(?<named>[A-Za-z_]\w*)|\{(?<braced>\$?\w+)\}|(?<numbered>\$\d+)|[()[\];]|['"]/g;

/** A comment can have a megabyte, and marks that nothing closes are searched for once each. */
export const maxQueryCharacters = 10_000;

interface Mistake {
  /** In UTF-16 code units of the query. */
  readonly at: number;
  readonly message: string;
}

/**
 * Splits a query at the parameters that it reads: `:name`, `{name}`, and `$1` for those without a name.
 * @param position returns the position of a parameter that the query may read, or why it may not
 */
function splitQuery(
  text: string,
  position: (name: string) => number | string,
): { readonly parts: readonly (string | number)[] } | Mistake {
  const found = findQueryInputs(text);
  if ('message' in found) return found;
  const parts: (string | number)[] = [];
  let last = 0;
  for (const { name, start, end } of found) {
    const result = position(name);
    if (typeof result === 'string') return { at: start, message: result };
    parts.push(text.slice(last, start), result);
    last = end;
  }
  return { parts: [...parts, text.slice(last)] };
}

/** A parameter in a query: `:name`, `{name}` or `$1`. */
interface QueryInput {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Returns the parameters that a query reads, in their order, or why it cannot be a part of a statement. */
export function findQueryInputs(text: string): readonly QueryInput[] | Mistake {
  if (text.length > maxQueryCharacters)
    return {
      at: 0,
      message: `the query has ${text.length} characters; at most ${maxQueryCharacters}: call a function`,
    };
  const inputs: QueryInput[] = [];
  let depth = 0;
  for (const match of text.matchAll(token)) {
    const [found] = match;
    depth += changeOfDepth(found);
    const message = depth < 0 ? `there is no parenthesis for this "${found}"` : refuseToken(found);
    if (message !== null) return { at: match.index, message };
    const { named, braced, numbered } = match.groups!;
    const name = named ?? braced ?? numbered;
    if (name !== undefined) inputs.push({ name, start: match.index, end: match.index + found.length });
  }
  return depth > 0 ? { at: text.length, message: 'a parenthesis is not closed' } : inputs;
}

function changeOfDepth(found: string): number {
  if (found === '(' || found === '[') return 1;
  return found === ')' || found === ']' ? -1 : 0;
}

/** Returns why a query cannot contain a token, as it becomes a part of the statement of the call; null: it can. */
function refuseToken(found: string): string | null {
  if (found === ';') return 'the line must be one query; remove the ";"';
  if (found === "'" || found === '"') return `the text that begins here has no closing ${found}`;
  return found.startsWith('--') ? 'a comment would end the line; remove it' : null;
}

/** Returns the message with the query and a caret under the place. @param at in UTF-16 code units */
export function pointAt(message: string, text: string, at: number): string {
  const oneLine = text.replaceAll(/\s/g, ' ');
  return `${message}\n  ${oneLine}\n  ${' '.repeat(at)}^`;
}

/** The text of a constant default, as PostgreSQL shows it. */
const constant = /^(?:NULL|true|false|-?\d+(?:\.\d+)?|'(?:[^']|'')*')(?:::[\w ".]+(?:\(\d+(?:,\d+)?\))?(?:\[\])*)?$/;

/** Returns the parameters with the queries of the comment. Clients cannot set those that have one. */
export function resolveValueQueries(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
): readonly EndpointParameter[] {
  const queries = new Map<EndpointParameter, ValueQuery>();
  for (const { name, text, line } of builder.valueQueries) {
    const report = (message: string): void => builder.report('error', 'value-query', `param ${name}: ${message}`, line);
    const parameter = findParameter(parameters, name);
    if (parameter === null) {
      report(unknownParameter(name, parameters));
      continue;
    }
    const fault = queries.has(parameter) ? 'another line has a query for it; keep one' : findFault(builder, parameter);
    if (fault !== null) {
      report(fault);
      continue;
    }
    const split = splitQuery(text, (read) => findInput({ builder, parameters }, parameter, read));
    if ('message' in split) report(pointAt(split.message, text, split.at));
    else queries.set(parameter, { parts: split.parts, text, line });
  }
  return parameters.map((parameter) => {
    const query = queries.get(parameter);
    return query === undefined ? parameter : { ...parameter, injectedValue: 'query', query };
  });
}

function findFault({ routine }: EndpointBuilder, parameter: EndpointParameter): string | null {
  if (routine.source !== undefined && routine.source !== 'functions' && routine.takesQueries !== true)
    return 'only routines and SQL files have such parameters; write the query as a subquery where the statement uses the parameter';
  if (parameter.inPath) return 'it is a path parameter, which the client sets';
  if (parameter.variadic) return 'it is variadic; give it an array parameter';
  if (parameter.injectedValue !== undefined) return 'another line sets it; keep one of the two';
  if (parameter.hashOf !== undefined) return 'it receives a hash; keep one of the two lines';
  return null;
}

/** Returns the position of a parameter that the query may read, or why it may not. */
function findInput(
  { builder, parameters }: { readonly builder: EndpointBuilder; readonly parameters: readonly EndpointParameter[] },
  target: EndpointParameter,
  name: string,
): number | string {
  const input = findParameter(parameters, name);
  if (input === null) return unknownParameter(name, parameters);
  if (input === target) return 'the query reads the parameter that it sets';
  if (builder.valueQueries.some((line) => findParameter(parameters, line.name) === input))
    return `${display(name)} is set by a query, too; write that query here`;
  const { optional, defaultExpression = null } = input;
  if (optional && (defaultExpression === null || !constant.test(defaultExpression)))
    return `the default of ${display(name)} is not a constant, so that only the routine knows it; compute the value in the routine`;
  return input.position;
}
