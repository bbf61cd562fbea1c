import type { Problem } from '@pgway/core';
import { nearestName, ReadFault, type ReadFaultFacts } from '@pgway/core/internal';
import { postgrestProblem, queryProblem, rangeProblem, syntaxProblem } from './postgrest-problem.ts';
import { findStem } from './similar-name.ts';

/** Returns the error of PostgREST for a mistake in what a request says of the rows to read; other errors unchanged. */
export function toReadProblem(error: unknown): unknown {
  return error instanceof ReadFault ? readProblem(error.facts) : error;
}

function readProblem(facts: ReadFaultFacts): Problem {
  switch (facts.kind) {
    case 'syntax':
      return syntax(facts);
    case 'unknown-column':
      return queryProblem({
        code: '42703',
        message: `column ${aliasOf(facts)}.${facts.column.slice(0, 100)} does not exist`,
        hint: similarColumn(facts),
      });
    case 'missing-operator':
      return missingOperator(`"${facts.operator}" does not exist for column "${facts.operand}" of type ${facts.type}`);
    case 'step-into-text':
      return missingOperator(
        `operator does not exist: text ${facts.operator} ${facts.isIndex ? 'integer' : 'unknown'}`,
        'No operator matches the given name and argument types. You might need to add explicit type casts.',
      );
    case 'no-relationship':
      return noRelationship(facts);
    case 'several-relationships':
      return severalRelationships(facts);
    case 'aggregates-disabled':
      return queryProblem({ code: 'PGRST123', message: 'Use of aggregate functions is not allowed' });
    case 'spread-aggregates':
      return queryProblem({
        code: 'PGRST127',
        message: 'Feature not implemented',
        details: 'Aggregates are not implemented for one-to-many or many-to-many spreads.',
      });
    case 'unknown-type':
      return queryProblem({
        code: '42704',
        message: `type "${facts.type.slice(0, 60)}" does not exist`,
      });
    case 'negative-limit':
      return rangeProblem('Limit should be greater than or equal to zero.');
    default:
      return relationProblem(facts);
  }
}

/** The error of PostgreSQL, with the status that PostgREST gives it. */
function missingOperator(message: string, hint: string | null = null): Problem {
  return postgrestProblem(404, '42883', message, { hint });
}

/** What a request says of a related relation. */
function relationProblem(facts: FactsOf<'order-by-many' | 'unselected-relation' | 'repeated-relation'>): Problem {
  switch (facts.kind) {
    case 'order-by-many':
      return queryProblem({
        code: 'PGRST118',
        message: `A related order on '${facts.relation}' is not possible`,
        details: `'${facts.outer}' and '${facts.relation}' do not form a many-to-one or one-to-one relationship`,
      });
    case 'unselected-relation':
      return unselectedRelation(facts);
    case 'repeated-relation':
      return queryProblem({
        code: '42712',
        message: `table name "${facts.outer}_${facts.name.slice(0, 100)}_${facts.depth}" specified more than once`,
      });
  }
}

type FactsOf<Kind extends ReadFaultFacts['kind']> = Extract<ReadFaultFacts, { readonly kind: Kind }>;

function syntax({ parameter, reason, position }: FactsOf<'syntax'>): Problem {
  return syntaxProblem(parameter, position === undefined ? reason : `${reason} at position ${position}`);
}

/** Bytes of the longest name of PostgreSQL: longer texts resemble none. */
const maxName = 63;

function similarName(name: string, candidates: readonly string[]): string | null {
  return name.length > maxName ? null : nearestName(name, candidates);
}

/** The name of a relation in the statement of PostgREST. */
function aliasOf({ relation, depth }: FactsOf<'unknown-column'>): string {
  return depth === 0 ? relation : `${relation}_${depth}`;
}

function similarColumn(facts: FactsOf<'unknown-column'>): string | null {
  const { column, columns } = facts;
  const similar = similarName(column, columns);
  return similar === null ? null : `Perhaps you meant to reference the column "${aliasOf(facts)}.${similar}".`;
}

function unselectedRelation({ relation, alias }: FactsOf<'unselected-relation'>): Problem {
  const name = relation.slice(0, 100);
  return queryProblem({
    code: 'PGRST108',
    message: `'${name}' is not an embedded resource in this request`,
    ...(alias === null
      ? { hint: `Verify that '${name}' is included in the 'select' query parameter.` }
      : {
          details: 'Target names are not allowed in filters if they have an alias',
          hint: `Change '${name}' to '${alias}' in filters, orders or limits.`,
        }),
  });
}

function noRelationship({ schema, outer, name: wanted, hint, related }: FactsOf<'no-relationship'>): Problem {
  const name = wanted.slice(0, 100);
  const using = hint === null ? '' : ` using the hint '${hint.slice(0, 100)}'`;
  const similar = hint === null ? (similarName(wanted, related) ?? findStem(wanted, related)) : null;
  return queryProblem({
    code: 'PGRST200',
    message: `Could not find a relationship between '${outer}' and '${name}' in the schema cache`,
    details: `Searched for a foreign key relationship between '${outer}' and '${name}'${using} in the schema '${schema}', but no matches were found.`,
    hint: similar === null ? null : `Perhaps you meant '${similar}' instead of '${name}'.`,
  });
}

function severalRelationships({ outer, name, found, choices }: FactsOf<'several-relationships'>): Problem {
  const listed = choices.map((choice) => `'${choice}'`).join(', ');
  return queryProblem({
    code: 'PGRST201',
    message: `Could not embed because more than one relationship was found for '${outer}' and '${name}'`,
    details: found.map(({ kind, target, description }) => ({
      cardinality: kind,
      embedding: `${outer} with ${target}`,
      relationship: description,
    })),
    hint: `Try changing '${name}' to one of the following: ${listed}. Find the desired relationship in the 'details' key.`,
  });
}
