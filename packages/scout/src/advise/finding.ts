/** A remark on the schema, and the table of its codes. */
import type { NamedObject } from '../ddl/select-objects.ts';
import type { Facts, Index, Policy, Relation, Routine } from './facts.ts';

/** An object, or an index, a constraint or a column of one. */
export interface AdvisedObject extends NamedObject {
  /** The table or view of an index, constraint, column or policy. */
  readonly owner: NamedObject | null;
}

export interface Finding {
  readonly object: AdvisedObject;
  readonly reason: string;
  /** The statements that mend it; empty when the reason says what to decide first. */
  readonly statements: readonly string[];
  /** How policies change: its statements depend on the other findings that are shown. */
  readonly policyMend?: PolicyMend;
}

/** A change of the conditions of a policy, or of several policies to one. */
export type PolicyMend =
  | { readonly kind: 'change'; readonly policy: Policy; readonly apply: (condition: string) => string }
  | { readonly kind: 'join'; readonly policies: readonly Policy[] };

/** A check of the whole schema. */
export interface Rule {
  /** The stable name of its findings. */
  readonly code: string;
  /** What a finding means, in the table of the documentation. */
  readonly summary: string;
  readonly find: (facts: Facts) => readonly Finding[];
}

type RelationKind = 'TABLE' | 'VIEW' | 'MATERIALIZED VIEW' | 'FOREIGN TABLE';

const relationKinds: Readonly<Record<Relation['relationKind'], RelationKind>> = {
  r: 'TABLE',
  p: 'TABLE',
  v: 'VIEW',
  m: 'MATERIALIZED VIEW',
  f: 'FOREIGN TABLE',
};

export function relationKind({ relationKind: kind }: Relation): RelationKind {
  return relationKinds[kind];
}

export function relationObject(relation: Relation): AdvisedObject {
  const { schema, name, sqlName } = relation;
  const kind = relationKind(relation);
  return { kind, schema, table: null, name, signature: '', qualifiedName: sqlName, owner: null };
}

export function routineObject({ kind, schema, name, signature, sqlName }: Routine): AdvisedObject {
  return { kind, schema, table: null, name, signature, qualifiedName: `${sqlName}${signature}`, owner: null };
}

export function schemaObject({ name, sqlName }: Facts['openSchemas'][number]): AdvisedObject {
  return { kind: 'SCHEMA', schema: null, table: null, name, signature: '', qualifiedName: sqlName, owner: null };
}

/** @param sqlName the name of the part alone, as in SQL */
function partObject(kind: string, relation: Relation, name: string, sqlName: string): AdvisedObject {
  const owner = relationObject(relation);
  const qualifiedName = `${relation.sqlName}.${sqlName}`;
  return { kind, schema: relation.schema, table: relation.name, name, signature: '', qualifiedName, owner };
}

export function policyObject(policy: Policy, relation: Relation): AdvisedObject {
  return partObject('POLICY', relation, policy.name, policy.policyName);
}

export function constraintObject(
  { name, constraintName }: Facts['foreignKeys'][number],
  relation: Relation,
): AdvisedObject {
  return partObject('CONSTRAINT', relation, name, constraintName);
}

export function columnObject({ name, sqlName }: Relation['columns'][number], relation: Relation): AdvisedObject {
  return partObject('COLUMN', relation, name, sqlName);
}

export function indexObject({ schema, name, sqlName }: Index, relation: Relation): AdvisedObject {
  const owner = relationObject(relation);
  return { kind: 'INDEX', schema, table: relation.name, name, signature: '', qualifiedName: sqlName, owner };
}
