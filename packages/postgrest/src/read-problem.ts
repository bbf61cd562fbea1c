import type { Problem } from '@pgway/core';
import { ReadFault, type ReadFaultFacts } from '@pgway/core/internal';
import { queryProblem, syntaxProblem } from './postgrest-problem.ts';

/** Returns the error of PostgREST for a mistake in what a request says of the rows to read; other errors unchanged. */
export function toReadProblem(error: unknown): unknown {
  return error instanceof ReadFault ? readProblem(error.facts) : error;
}

function readProblem(facts: ReadFaultFacts): Problem {
  switch (facts.kind) {
    case 'syntax': {
      const { parameter, reason, position } = facts;
      return syntaxProblem(parameter, position === undefined ? reason : `${reason} at position ${position}`);
    }
    case 'unknown-column':
      return queryProblem({
        code: '42703',
        message: `column ${facts.relation}.${facts.column.slice(0, 100)} does not exist`,
        hint: `The columns are ${facts.columns.slice(0, 50).join(', ')}.`,
      });
    case 'missing-operator':
      return queryProblem({
        code: '42883',
        message: `"${facts.operator}" does not exist for column "${facts.operand}" of type ${facts.type}`,
      });
    case 'no-relationship':
      return noRelationship(facts);
    case 'several-relationships':
      return severalRelationships(facts);
    case 'aggregates-disabled':
      return queryProblem({
        code: 'PGRST123',
        message: 'Use of aggregate functions is not allowed',
        hint: 'The option "allowAggregates" of the dialect allows them',
      });
    case 'spread-aggregates':
      return queryProblem({
        code: 'PGRST127',
        message: 'Feature not implemented',
        details: `Aggregates in ...${facts.relation.slice(0, 100)}, which can have several rows`,
      });
    case 'order-by-many':
      return queryProblem({
        code: 'PGRST118',
        message: `A related order on '${facts.relation}' is not possible`,
        details: `'${facts.relation}' can have several rows (${facts.description})`,
      });
    case 'unselected-relation': {
      const path = facts.path.slice(0, 100);
      return queryProblem({
        code: 'PGRST108',
        message: `'${path}' is not an embedded resource in this request`,
        hint: `Verify that '${path}' is included in the 'select' query parameter.`,
      });
    }
  }
}

type FactsOf<Kind extends ReadFaultFacts['kind']> = Extract<ReadFaultFacts, { readonly kind: Kind }>;

function noRelationship({ outer, name: wanted, hint, related }: FactsOf<'no-relationship'>): Problem {
  const name = wanted.slice(0, 100);
  return queryProblem({
    code: 'PGRST200',
    message: `Could not find a relationship between '${outer}' and '${name}' in the schema cache`,
    details: `Searched for a foreign key relationship between '${outer}' and '${name}'${hint === null ? '' : ` using the hint '${hint.slice(0, 100)}'`}, but no matches were found.`,
    hint:
      related.length === 0
        ? `'${outer}' has no related tables that can be read here.`
        : `'${outer}' is related with ${related.slice(0, 20).join(', ')}.`,
  });
}

function severalRelationships({ outer, name, found, choices }: FactsOf<'several-relationships'>): Problem {
  return queryProblem({
    code: 'PGRST201',
    message: `Could not embed because more than one relationship was found for '${outer}' and '${name}'`,
    details: found.map(({ kind, target, description, hints }) => ({
      cardinality: kind,
      embedding: `${outer} with ${target}`,
      relationship: description,
      hints,
    })),
    hint: `Try changing '${name}' to one of the following: ${choices.join(', ')}. Find the desired relationship in the 'details' key.`,
  });
}
