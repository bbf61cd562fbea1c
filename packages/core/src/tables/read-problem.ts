import { DatabaseError } from '../postgres/port.ts';
import { Problem } from '../ports/ports.ts';
import { ReadFault, type ReadFaultFacts } from './read/read-fault.ts';
import { listSize, maxBodyBytes } from './read/related-lists.ts';

/** Returns the problem for a mistake in what a request says of the rows to read; other errors unchanged. */
export function toReadProblem(error: unknown): unknown {
  if (!(error instanceof ReadFault)) return error;
  const { facts } = error;
  const { position } = facts;
  const parameter = shorten(facts.parameter);
  return new Problem('invalid-parameter', {
    detail: `The parameter "${parameter}"${position === undefined ? '' : ` at position ${position}`}: ${describe(facts)}`,
    members: { parameters: [parameter], ...(position === undefined ? {} : { position }) },
  });
}

const shorten = (text: string): string => text.slice(0, 100);

function describe(facts: ReadFaultFacts): string {
  switch (facts.kind) {
    case 'syntax':
      return `${facts.reason}.`;
    case 'unknown-column':
      return `"${shorten(facts.column)}" is not a column of ${facts.relation}; the columns are ${facts.columns.slice(0, 50).join(', ')}.`;
    case 'missing-operator':
      return `"${facts.operand}" is ${facts.type}, which has no "${facts.operator}".`;
    case 'step-into-text':
      return `"->>" gives text, which has no "${facts.operator}${shorten(facts.key)}"; write "->" before it.`;
    case 'no-relationship':
      return describeMissing(facts);
    case 'several-relationships': {
      const { outer, name, found, choices } = facts;
      const ways = found.map(({ description }) => description).join('; ');
      return `${outer} is related with "${shorten(name)}" in several ways: ${ways}. Write one of ${choices.join(', ')}.`;
    }
    case 'aggregates-disabled':
    case 'spread-aggregates':
      return 'aggregates are not available; a function of the database can return them.';
    case 'unknown-type':
      return `"${facts.type.slice(0, 60)}" is not a type to cast to; the types are ${facts.types.join(', ')}.`;
    case 'negative-limit':
      return 'a number from 0 on is expected.';
    default:
      return describeRelation(facts);
  }
}

/** What a request says of a related relation. */
function describeRelation(facts: FactsOf<'order-by-many' | 'unselected-relation' | 'repeated-relation'>): string {
  switch (facts.kind) {
    case 'order-by-many':
      return `a row of ${facts.outer} can have several rows of ${facts.relation}, which give no order.`;
    case 'repeated-relation':
      return `two related tables have the name "${shorten(facts.name)}"; give each an alias, as in one:${shorten(facts.name)}(*).`;
    case 'unselected-relation':
      return describeUnselected(facts);
  }
}

type FactsOf<Kind extends ReadFaultFacts['kind']> = Extract<ReadFaultFacts, { readonly kind: Kind }>;

function describeMissing({ outer, name, hint, related }: FactsOf<'no-relationship'>): string {
  const wanted = `"${shorten(name)}${hint === null ? '' : `!${shorten(hint)}`}"`;
  const known =
    related.length === 0 ? 'it has no related tables' : `it is related with ${related.slice(0, 20).join(', ')}`;
  return `${outer} is not related with ${wanted} here; ${known}.`;
}

function describeUnselected({ relation, alias }: FactsOf<'unselected-relation'>): string {
  return alias === null
    ? `"${shorten(relation)}" is not a related table that "select" names.`
    : `"${shorten(relation)}" has the name "${alias}" in "select"; write that.`;
}

/**
 * Errors of statements that a request can cause although its names were checked:
 * - 42846, 42804: a cast that a type does not have
 * - 54001, 54011: a statement that is too large
 */
const causedByRequest: ReadonlySet<string> = new Set(['42846', '42804', '54001', '54011']);
/** A text that is not a query of text search; in the phase of parsing, a mistake in the statement. */
const syntaxError = '42601';

/** Returns the problem for a statement that PostgreSQL has refused because of what the request selects; other errors unchanged. */
export function toSelectProblem(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const { code, message, where } = error.diagnostics;
  const size = code === '22P02' ? listSize(message) : null;
  if (size !== null) {
    return new Problem('invalid-parameter', {
      detail: `The related rows of a row have ${size} bytes; the limit is ${maxBodyBytes}. Request fewer.`,
      members: { parameters: ['select'] },
    });
  }
  // With a context, it is the mistake of a function.
  const isCaused = causedByRequest.has(code) || (code === syntaxError && error.phase !== 'parse');
  if (where !== undefined || !isCaused) return error;
  return new Problem('invalid-parameter', {
    detail: `PostgreSQL cannot evaluate what the request selects: ${message}.`,
    members: { code, parameters: ['select'] },
  });
}
