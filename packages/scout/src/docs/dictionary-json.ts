/** The dictionary as data for other programs. */
import type { Column, Relation, Routine, SchemaEntry, TypeEntry } from './dictionary.ts';
import type { EndpointLookup } from './document-text.ts';

type Json = Readonly<Record<string, unknown>>;

export function dictionaryJson(dictionary: readonly SchemaEntry[], endpointOf: EndpointLookup): readonly Json[] {
  return dictionary.map(({ name, schema, relations, types, routines }) => ({
    schema: name,
    comment: schema?.comment ?? null,
    tables: relations.map(relationJson),
    types: types.map(typeJson),
    routines: routines.map((routine) => routineJson(routine, endpointOf)),
  }));
}

function objectJson({ object: { kind, name, qualifiedName }, comment }: Relation | TypeEntry | Routine): Json {
  return { kind, name, qualifiedName, comment };
}

function relationJson(relation: Relation): Json {
  const { columns, constraints, details, partitionOf, partitionBound, partitionKey } = relation;
  return {
    ...objectJson(relation),
    partitionOf,
    partitionBound,
    partitionKey,
    columns: columns.map(({ isNotNull, value, ...column }) => ({ ...columnJson(column), isNotNull, value })),
    constraints: constraints.map(({ name, columns: names, definition, references }) => ({
      name,
      columns: names,
      definition,
      references: references?.qualifiedName ?? null,
    })),
    details,
  };
}

function columnJson({ plainName, type, comment }: Pick<Column, 'plainName' | 'type' | 'comment'>): Json {
  return { name: plainName, type, comment };
}

function typeJson(type: TypeEntry): Json {
  const { labels, attributes, baseType, conditions } = type;
  return { ...objectJson(type), labels, attributes: attributes.map(columnJson), baseType, conditions };
}

function routineJson(routine: Routine, endpointOf: EndpointLookup): Json {
  const { arguments: args, result } = routine;
  return { ...objectJson(routine), arguments: args, result, endpoint: endpointOf(routine) };
}
