import { nearestName } from '../../validation/suggestion.ts';
import { display } from '../diagnostic.ts';
import { type ChangeOperation, changeOperations } from '../row-changes.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Annotation } from '../comment/annotation.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { tablesOnly } from '../comment/parse-values.ts';
import { looksLikeProse } from '../comment/prose.ts';
import type { Setting } from '../comment/setting.ts';
import { type ParsedValue, type ValueAnnotation, valueAnnotation } from '../comment/value-annotation.ts';

/** Whether changes are streamed, and which. */
export const changedOperations: Setting<readonly ChangeOperation[]> = {
  key: 'changes',
  effect: (operations) => `streams changes of rows: ${operations.join(', ')}`,
};

export const changesOld: Setting<boolean> = { key: 'changesOld' };

/** The column and the claim as written. */
export interface ChangeRoute {
  readonly column: string;
  readonly claim: string;
}

export const changesBy: Setting<ChangeRoute> = {
  key: 'changesBy',
  effect: ({ column, claim }) => `sends changes whose ${column} is the claim ${claim} of the caller`,
};

export const changesByAddress: Setting<boolean> = { key: 'changesByAddress' };

/** The names of tables as written. */
export const changesGap: Setting<readonly string[]> = { key: 'changesGap' };

const forms = ['insert', 'update', 'delete', 'old', 'by', 'gap'] as const;

/** `<column> = claim <name>`. Names with spaces or quotation marks are in double quotes. */
const route = /^(?<column>"(?:[^"]|"")+"|[^\s"=]+)\s*=\s*claim\s+(?<claim>"(?:[^"]|"")+"|\S+)$/i;

function isForm(word: string): boolean {
  return forms.some((form) => form === word.toLowerCase());
}

/** "Changes of a booking are logged." and "Changes by the author" are prose. */
function matches(words: readonly string[]): boolean {
  const [first, second = ''] = words;
  if (first === undefined || (words.length === 1 && parseBoolean(first) !== null)) return true;
  if (first.toLowerCase() === 'gap' && second.toLowerCase() === 'on') return true;
  if (first.toLowerCase() === 'by')
    return words.some((word) => word.includes('=')) || nearestName(second, ['address']) !== null;
  return (isForm(first) || nearestName(first.toLowerCase(), forms) !== null) && !looksLikeProse(['changes', ...words]);
}

const fail = (message: string): AnnotationError => ({ code: 'bad-argument', message });

function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const misplaced = tablesOnly(parsed, builder);
  if (misplaced !== null) return misplaced;
  const [first = 'on', ...rest] = parsed.args.map((word) => word.toLowerCase());
  const value = rest.length === 0 ? parseBoolean(first) : null;
  if (value !== null) {
    builder.set(parsed, changedOperations, value ? changeOperations : []);
    return null;
  }
  if (first === 'old' && rest.length === 0) builder.set(parsed, changesOld, true);
  else if (first === 'by') return applyBy(parsed, builder);
  else if (first === 'gap') return applyGap(parsed, builder);
  else return applyOperations(parsed, builder);
  return null;
}

function applyOperations(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const written = parsed.args.map((word) => word.toLowerCase());
  const unknown = written.find((word) => !changeOperations.some((operation) => operation === word));
  if (unknown !== undefined) {
    const near = nearestName(unknown, [...changeOperations, 'old']);
    const hint = near === null ? '' : `; did you mean ${display(near)}?`;
    return fail(
      `${parsed.name} takes insert, update, delete, or one of old, by <column> = claim <name>, by address, gap on <table>, not ${display(unknown)}${hint}`,
    );
  }
  builder.set(
    parsed,
    changedOperations,
    changeOperations.filter((operation) => written.includes(operation)),
  );
  return null;
}

function applyBy(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const written = parsed.text.replace(/^by\s+/i, '');
  if (written.toLowerCase() === 'address') {
    builder.set(parsed, changesByAddress, true);
    return null;
  }
  const { column, claim } = route.exec(written)?.groups ?? {};
  if (column === undefined || claim === undefined)
    return fail(
      `write ${parsed.name} by <column> = claim <name>, or ${parsed.name} by address, not ${display(parsed.text)}`,
    );
  if (builder.isSet(changesBy))
    return fail(
      `${parsed.name} by ${written} is the second column; changes are sent by one column, remove one of the lines`,
    );
  builder.set(parsed, changesBy, { column: unquote(column), claim: unquote(claim) });
  return null;
}

function unquote(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}

function applyGap(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const [, on = '', ...tables] = parsed.args;
  if (on.toLowerCase() !== 'on' || tables.length === 0)
    return fail(`write ${parsed.name} gap on <table>, …, not ${display(parsed.text)}`);
  builder.set(parsed, changesGap, [...(builder.get(changesGap) ?? []), ...tables]);
  return null;
}

export const changes: Annotation = {
  names: ['changes'],
  syntax: [
    'changes',
    'changes insert | update | delete, …',
    'changes old',
    'changes by <column> = claim <name>',
    'changes by address',
    'changes gap on <table>, …',
    'changes = <on/off>',
  ],
  documentation:
    'Tables and views only. Streams changes of the rows that the select endpoint returns, as server-sent events at the path of that endpoint and `/changes`. Each caller gets the changes of the rows that PostgreSQL lets the caller select ([guide](../guide/changes.md)). `insert`, `update`, `delete`: only these operations. `old`: updates and deletes have the row before the change. `by <column> = claim <name>`: callers get only changes of rows with the value of their claim in this column, which is part of the replica identity; it saves reads, and policies decide all the same. `by address`: policies read the address of the client. `gap on`: a change of these tables, which policies or the view read, tells subscribers to read again. Each of these lines enables the stream.',
  isGuard: false,
  readsLikeSentence: true,
  matches,
  apply,
};

function parsePath(parsed: ParsedAnnotation, builder: EndpointBuilder): ParsedValue<string> | AnnotationError {
  const misplaced = tablesOnly(parsed, builder);
  if (misplaced !== null) return misplaced;
  const [path, ...leftover] = parsed.args;
  if (path !== undefined && leftover.length === 0) return { value: path };
  return {
    code: path === undefined ? 'bad-argument' : 'extra-arguments',
    message: `${parsed.name} takes one path, which is appended to that of the endpoint, not ${display(parsed.text)}`,
    unusedArguments: leftover,
  };
}

export const changesPath: ValueAnnotation<string> = valueAnnotation({
  key: 'changesPath',
  names: ['changes_path'],
  syntax: ['changes_path <path>', 'changes_path = <path>'],
  documentation:
    'The path of the stream of `changes`, appended to the path of the select endpoint without its parameter segments. Default: `/changes`. It implies `changes`.',
  isGuard: false,
  parse: parsePath,
});
