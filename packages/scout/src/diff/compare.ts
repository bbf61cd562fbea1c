/** Decides how an element that both schemas have becomes the wanted one. */
import { constraintText } from '../ddl/definitions/constraints.ts';
import type { Item } from '../ddl/item.ts';
import type { Column, Constraint, Structure } from '../ddl/structure.ts';
import { changedBaseOptions } from './base-type-options.ts';
import type { Element } from './elements.ts';

/** `alter`: in place, if there is a difference at all. `retype`: a column whose type changes. `rebuild`: dropped and created. */
export type Way = 'alter' | 'retype' | 'rebuild';

/** @param version the major version of the server of the current schema */
export function compareElements(before: Element, after: Element, version: number): Way {
  const [old, wanted] = [before.part, after.part];
  if (old.kind === 'column' && wanted.kind === 'column') return compareColumns(old.column, wanted.column, version);
  if (old.kind === 'constraint' && wanted.kind === 'constraint')
    return compareConstraints(old.constraint, wanted.constraint);
  if (old.kind === 'row type' && wanted.kind === 'row type') return old.type === wanted.type ? 'alter' : 'rebuild';
  if (old.kind !== 'item' || wanted.kind !== 'item') return 'alter';
  // Extensions can be updated and moved.
  const canRemain = before.object.kind === 'EXTENSION' || canAlter(before.item, after.item);
  return canRemain ? 'alter' : 'rebuild';
}

function compareColumns(before: Column, after: Column, version: number): Way {
  const isRetyped = before.type !== after.type || before.collation !== after.collation;
  if (before.generated === '' && after.generated === '') return isRetyped ? 'retype' : 'alter';
  // The expression of a stored column can be dropped; that of a virtual one cannot.
  if (after.generated === '') return before.generated === 's' && !isRetyped ? 'alter' : 'rebuild';
  if (isRetyped || before.generated !== after.generated) return 'rebuild';
  return before.defaultText === after.defaultText || canSetExpression(after, version) ? 'alter' : 'rebuild';
}

function canSetExpression({ generated }: Column, version: number): boolean {
  return version >= (generated === 'v' ? 18 : 17);
}

function compareConstraints(before: Constraint, after: Constraint): Way {
  const text = (constraint: Constraint): string => constraintText(constraint).replace(/ NOT VALID$/, '');
  const isSame = text(before) === text(after) && before.isEnforced === after.isEnforced;
  return isSame && (after.isValidated || !before.isValidated) ? 'alter' : 'rebuild';
}

function canAlter(before: Item, after: Item): boolean {
  const [old, wanted] = [before.structure, after.structure];
  // The parts of tables are elements of their own.
  if (old?.kind !== 'table' && isSameText(before, after)) return true;
  if (old === null || wanted === null || old.kind !== wanted.kind) return false;
  const rule = rules[old.kind] as ((before: Structure, after: Structure) => boolean) | undefined;
  return rule?.(old, wanted) ?? false;
}

type Rules = {
  readonly [Kind in Structure['kind']]?: (
    before: Extract<Structure, { readonly kind: Kind }>,
    after: Extract<Structure, { readonly kind: Kind }>,
  ) => boolean;
};

/** Whether a structure can become the other one in place. Kinds without a rule are created again. */
const rules: Rules = {
  table: ({ table: { row: before } }, { table: { row: after } }) =>
    before.kind === after.kind && before.partitionKey === after.partitionKey && before.server === after.server,
  view: ({ view: before }, { view: after }) =>
    !before.isMaterialized && before.columns.every((column, index) => column === after.columns[index]),
  routine: ({ routine: before }, { routine: after }) =>
    before.signature === after.signature && before.defaults <= after.defaults,
  sequence: () => true,
  statistics: (before, after) => before.sorted.join('\n') === after.sorted.join('\n'),
  index: ({ index: before }, { index: after }) => before.definition === after.definition,
  options: ({ options: before }, { options: after }) => before.base === after.base,
  base: (before, after) => changedBaseOptions(before.options, after.options) !== null,
  enum: (before, after) => isSubsequence(before.labels, after.labels),
  composite: (before, after) => {
    const wanted = new Map(after.attributes.map((attribute) => [attribute.name, attribute]));
    return before.attributes.every(({ name, type, collation }) => {
      const other = wanted.get(name);
      return other === undefined || (other.type === type && other.collation === collation);
    });
  },
  domain: ({ domain: before }, { domain: after }) =>
    before.baseType === after.baseType && before.collation === after.collation,
};

function isSubsequence(labels: readonly string[], all: readonly string[]): boolean {
  let position = 0;
  for (const label of all) if (label === labels[position]) position++;
  return position === labels.length;
}

export function isSameText(before: Item, after: Item): boolean {
  const [old, wanted] = [before, after].map((item) => item.statements(new Set()));
  return old!.length === wanted!.length && old!.every((text, index) => text === wanted![index]);
}
