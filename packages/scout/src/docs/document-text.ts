/** The dictionary as Markdown. Equal databases give equal texts, so that the file can be kept in version control. */
import { escapeControlCharacters } from '@pgway/core/terminal';
import { blockText, cellText } from './comment-text.ts';
import type { Column, Commented, Constraint, Relation, Routine, SchemaEntry, TypeEntry } from './dictionary.ts';
import { entityDiagram } from './entity-diagram.ts';
import { code, escapeMarkdown, table } from './markdown.ts';
import { endMarker, header, startMarker } from './marker.ts';

/** An endpoint of a routine. */
export interface RoutineEndpoint {
  readonly method: string;
  readonly path: string;
  /** Such as `anonymous`, or the roles. */
  readonly authorization: string;
}

export type EndpointLookup = (routine: Routine) => RoutineEndpoint | null;

export function documentText(dictionary: readonly SchemaEntry[], endpointOf: EndpointLookup): string {
  const sections = dictionary.flatMap((schema) => schemaSections(schema, endpointOf));
  return [`${header}\n`, '# Database dictionary\n', ...sections].join('\n');
}

function schemaSections(entry: SchemaEntry, endpointOf: EndpointLookup): readonly string[] {
  const diagram = entityDiagram(entry.relations);
  return [
    `## Schema ${code(entry.name)}\n`,
    ...(entry.schema === null ? [] : [commentBlock(entry.schema)]),
    ...(diagram === null ? [] : [`\`\`\`mermaid\n${diagram}\`\`\`\n`]),
    ...entry.relations.flatMap(relationSections),
    ...entry.types.flatMap(typeSections),
    ...entry.routines.flatMap((routine) => routineSections(routine, endpointOf(routine))),
  ];
}

/** An object without a comment has markers too, so that one can be written. */
function commentBlock({ id, comment }: Commented): string {
  const lines = comment === null ? [] : [blockText(comment)];
  return [startMarker(id, comment), ...lines, endMarker].map((line) => `${line}\n`).join('');
}

function commentCell({ id, comment }: Commented): string {
  return `${startMarker(id, comment)}${comment === null ? '' : cellText(comment)}${endMarker}`;
}

const headings: Readonly<Record<string, string>> = {
  TABLE: 'Table',
  'FOREIGN TABLE': 'Foreign table',
  VIEW: 'View',
  'MATERIALIZED VIEW': 'Materialized view',
  TYPE: 'Type',
  DOMAIN: 'Domain',
  FUNCTION: 'Function',
  PROCEDURE: 'Procedure',
  AGGREGATE: 'Aggregate',
};

function heading({ object: { kind, qualifiedName } }: Relation | TypeEntry | Routine): string {
  return `### ${headings[kind] ?? kind} ${code(qualifiedName)}\n`;
}

function relationSections(relation: Relation): readonly string[] {
  const { object, columns, constraints, details } = relation;
  const isView = object.kind === 'VIEW' || object.kind === 'MATERIALIZED VIEW';
  return [
    heading(relation),
    commentBlock(relation),
    ...partitionText(relation),
    ...(columns.length === 0 ? [] : [isView ? attributeTable(columns) : columnTable(columns, constraints)]),
    ...list([
      ...constraints.map(({ name, definition }) => `${code(name)}: ${code(definition)}`),
      ...details.map(({ kind, name, definition }) => `${kind} ${code(name)}: ${code(definition)}`),
    ]),
  ];
}

function partitionText({ partitionOf, partitionBound, partitionKey }: Relation): readonly string[] {
  const bound = partitionBound === null ? '' : `: ${code(partitionBound)}`;
  return [
    ...(partitionOf === null ? [] : [`Partition of ${code(partitionOf)}${bound}\n`]),
    ...(partitionKey === null ? [] : [`Partitioned by ${code(partitionKey)}\n`]),
  ];
}

function attributeTable(columns: readonly Column[]): string {
  return table(
    ['column', 'type', 'comment'],
    columns.map((column) => [code(column.name), code(column.type), commentCell(column)]),
  );
}

function columnTable(columns: readonly Column[], constraints: readonly Constraint[]): string {
  return table(
    ['column', 'type', 'null', 'default', 'keys', 'comment'],
    columns.map((column) => [
      code(column.name),
      code(column.type),
      column.isNotNull ? 'no' : 'yes',
      valueText(column.value),
      keysText(column, constraints),
      commentCell(column),
    ]),
  );
}

function valueText(value: Column['value']): string {
  if (value === null) return '';
  return value.kind === 'identity' ? value.text : `${value.kind === 'default' ? '' : 'generated: '}${code(value.text)}`;
}

/** Keys of several columns are in the list of constraints. */
function keysText({ name }: Column, constraints: readonly Constraint[]): string {
  const texts = constraints.flatMap(({ type, columns, references }) => {
    if (!columns.includes(name)) return [];
    if (references !== null) return [`references ${code(references.qualifiedName)}`];
    if (type === 'p') return ['primary key'];
    return type === 'u' && columns.length === 1 ? ['unique'] : [];
  });
  return [...new Set(texts)].join(', ');
}

function typeSections(type: TypeEntry): readonly string[] {
  const { labels, attributes, baseType, conditions } = type;
  return [
    heading(type),
    commentBlock(type),
    ...(attributes.length === 0 ? [] : [attributeTable(attributes)]),
    ...list([
      ...(baseType === null ? [] : [`${type.object.kind === 'DOMAIN' ? 'type' : 'range of'}: ${code(baseType)}`]),
      ...(labels.length === 0 ? [] : [`values: ${labels.map(code).join(', ')}`]),
      ...conditions.map((condition) => `condition: ${code(condition)}`),
    ]),
  ];
}

function routineSections(routine: Routine, endpoint: RoutineEndpoint | null): readonly string[] {
  const { arguments: args, result } = routine;
  return [
    heading(routine),
    commentBlock(routine),
    ...list([
      ...(args === '' ? [] : [`arguments: ${code(args)}`]),
      ...(result === null ? [] : [`returns: ${code(result)}`]),
      ...(endpoint === null ? [] : [endpointText(endpoint)]),
    ]),
  ];
}

function endpointText({ method, path, authorization }: RoutineEndpoint): string {
  return `endpoint: ${code(`${method} ${path}`)} (${escapeMarkdown(escapeControlCharacters(authorization))})`;
}

function list(entries: readonly string[]): readonly string[] {
  return entries.length === 0 ? [] : [entries.map((entry) => `- ${entry}\n`).join('')];
}
