import type { Element } from './elements.ts';

/** Returns a note for each table and type whose columns have another order: columns are added at the end. */
export function columnOrderNotes(
  remaining: ReadonlyMap<string, Element>,
  after: ReadonlyMap<string, Element>,
): readonly string[] {
  return [...after].flatMap(([identity, element]) => {
    const before = remaining.get(identity);
    if (before === undefined || element.part.kind !== 'item') return [];
    const [old, wanted] = [columnsOf(before), columnsOf(element)];
    const isKept = (name: string): boolean => remaining.has(`${identity} column ${name}`) || !isTable(element);
    const kept = old.filter((name) => wanted.includes(name) && isKept(name));
    const result = [...kept, ...wanted.filter((name) => !kept.includes(name))];
    const isSame = result.every((name, index) => name === wanted[index]);
    return isSame ? [] : [`the order of the columns of ${element.object.qualifiedName} differs and is not changed`];
  });
}

const isTable = ({ item: { structure } }: Element): boolean => structure?.kind === 'table';

function columnsOf({ item: { structure } }: Element): readonly string[] {
  if (structure?.kind === 'table') return structure.table.columns.map(({ name }) => name);
  return structure?.kind === 'composite' ? structure.attributes.map(({ name }) => name) : [];
}
