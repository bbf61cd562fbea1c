/** Mistakes in what a request says of the rows to read, as data: each spelling of requests has its own errors for them. */

/** One of the relationships that a request may mean. */
export interface PossibleRelationship {
  readonly kind: 'many-to-one' | 'one-to-one' | 'one-to-many' | 'many-to-many';
  /** The name of the related relation. */
  readonly target: string;
  readonly description: string;
}

/** The parameter of the query string with the mistake, and the place in its text. */
interface Place {
  readonly parameter: string;
  /** Characters before the mistake; absent: the whole parameter. */
  readonly position?: number | undefined;
}

export type ReadFaultFacts =
  /** The text does not have the grammar, or exceeds a limit. */
  | (Place & { readonly kind: 'syntax'; readonly reason: string })
  | (Place & {
      readonly kind: 'unknown-column';
      readonly relation: string;
      /** The relations around it; 0: the one that is read. */
      readonly depth: number;
      readonly column: string;
      readonly columns: readonly string[];
    })
  /** The type of the value has no such operator. */
  | (Place & {
      readonly kind: 'missing-operator';
      readonly operator: string;
      readonly operand: string;
      readonly type: string;
    })
  /** A step of a JSON path after `->>`, which gives text. */
  | (Place & {
      readonly kind: 'step-into-text';
      readonly operator: '->' | '->>';
      readonly key: string;
      /** Whether the key is the index of an array. */
      readonly isIndex: boolean;
    })
  | (Place & {
      readonly kind: 'no-relationship';
      readonly schema: string;
      readonly outer: string;
      readonly name: string;
      readonly hint: string | null;
      /** The names of the relations that are related. */
      readonly related: readonly string[];
    })
  | (Place & {
      readonly kind: 'several-relationships';
      readonly outer: string;
      readonly name: string;
      readonly found: readonly PossibleRelationship[];
      /** For each one the text that means it. */
      readonly choices: readonly string[];
    })
  /** Requests may not select aggregates. */
  | (Place & { readonly kind: 'aggregates-disabled' })
  /** Aggregates of a spread relation that can have several rows. */
  | (Place & { readonly kind: 'spread-aggregates'; readonly relation: string })
  /** An order by a related relation that can have several rows. */
  | (Place & { readonly kind: 'order-by-many'; readonly outer: string; readonly relation: string })
  /** A condition, order or page of a relation that is not selected, or selected by an alias only. */
  | (Place & { readonly kind: 'unselected-relation'; readonly relation: string; readonly alias: string | null })
  /** Two related relations of one level with one name. */
  | (Place & {
      readonly kind: 'repeated-relation';
      readonly outer: string;
      readonly name: string;
      /** The relations around it. */
      readonly depth: number;
    })
  /** A cast to a type that requests cannot cast to. */
  | (Place & { readonly kind: 'unknown-type'; readonly type: string; readonly types: readonly string[] })
  | (Place & { readonly kind: 'negative-limit' });

/** A mistake in what a request says of the rows to read. */
export class ReadFault extends Error {
  readonly facts: ReadFaultFacts;

  constructor(facts: ReadFaultFacts) {
    super(`${facts.kind} in "${facts.parameter}"`);
    this.name = 'ReadFault';
    this.facts = facts;
  }
}

export function syntaxFault(parameter: string, reason: string, position?: number): ReadFault {
  return new ReadFault({ kind: 'syntax', parameter, reason, position });
}
