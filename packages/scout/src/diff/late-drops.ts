/** Drops that come last: until then, an object whose name the wanted schema has too gets another name. */
import type { Item } from '../ddl/item.ts';
import type { Drop } from './drop-order.ts';
import type { Schema } from './read-schema.ts';

interface LateDrop extends Drop {
  /** Run before the creations; empty for a name that is free. */
  readonly renames: readonly string[];
}

export function renameLateDrops(drops: readonly Drop[], current: Schema, wanted: Schema): readonly LateDrop[] {
  const taken = new Set([...current.objects.values(), ...wanted.objects.values()].map(({ name }) => name));
  const names = new Set([...wanted.objects.values()].map(({ schema, name }) => JSON.stringify([schema, name])));
  return drops.map((drop) => {
    const { object, item, part } = drop.element;
    const target = item.addresses[0]?.target ?? null;
    const isTaken = names.has(JSON.stringify([object.schema, object.name]));
    if (!isTaken || object.schema === null || part.kind !== 'item' || item.part !== null || target === null) {
      return { ...drop, renames: [] };
    }
    const name = freeName(taken);
    const kind = target.slice(0, target.indexOf(' '));
    const schema = /^(?:"(?:[^"]|"")*"|[^".]+)\./.exec(object.qualifiedName)![0];
    return {
      ...drop,
      renames: [
        `ALTER ${target} RENAME TO ${name}`,
        ...rangeNames(item, taken, { before: object.qualifiedName, after: `${schema}${name}` }),
      ],
      statements: drop.statements.map(() => `DROP ${kind} ${schema}${name}${object.signature}`),
    };
  });
}

/** The functions that construct ranges, and the multirange, have names of their own. */
function rangeNames({ structure }: Item, taken: Set<string>, range: RangeNames): readonly string[] {
  if (structure?.kind !== 'range') return [];
  const { subtype, multirange } = structure.range;
  const rename = (kind: string, target: string): string => `ALTER ${kind} ${target} RENAME TO ${freeName(taken)}`;
  return [
    ...[`(${subtype}, ${subtype})`, `(${subtype}, ${subtype}, text)`].map((list) =>
      rename('FUNCTION', `${range.before}${list}`),
    ),
    ...(multirange === null
      ? []
      : [
          rename('TYPE', multirange),
          ...['()', `(${range.after})`, `(VARIADIC ${range.after}[])`].map((list) =>
            rename('FUNCTION', `${multirange}${list}`),
          ),
        ]),
  ];
}

interface RangeNames {
  readonly before: string;
  readonly after: string;
}

function freeName(taken: Set<string>): string {
  let number = 1;
  while (taken.has(`pgscout_old_${number}`)) number++;
  const name = `pgscout_old_${number}`;
  taken.add(name);
  return name;
}
