/** Parameters and headers of requests to tables and functions. */
import { type DescribedParameter, filterOperators, relationKey } from '@pgway/core/internal';
import { readModelOf } from '../read-models.ts';
import type { Target } from '../target.ts';
import { count, example, oneOf, text } from './values.ts';

const optional = { in: 'query', required: false } as const;

/** Returns `select`, with the names of the related tables and computed columns that a request may select. */
export function selectParameter(target: Target): DescribedParameter {
  const { relationships, computed } = readModelOf(target);
  const key = relationKey(target);
  const related = [...new Set((relationships.get(key) ?? []).map(({ target: { name } }) => name))];
  const values = [...(computed.get(key)?.keys() ?? [])];
  const [first = 'id'] = target.columns.keys();
  return {
    ...optional,
    name: 'select',
    description: [
      'The columns, separated by commas: all by default. "alias:column" renames, "column::text" casts, "column->key" reads JSON.',
      ...(values.length === 0 ? [] : [`Computed columns: ${values.join(', ')}.`]),
      ...(related.length === 0 ? [] : [`Related rows, as in "${related[0]!}(*)": ${related.join(', ')}.`]),
    ].join(' '),
    value: example(related.length === 0 ? first : `${first},${related[0]!}(*)`),
  };
}

/** How filters are written, for the description of an operation. */
export const filterGrammar: string = `A filter is "<operator>.<value>", with an optional "not." before it, as in "gte.5", "is.null" or "in.(1,2)". Operators: ${filterOperators.join(', ')}.`;

/** A column of such a name has no filter by its name: "and" can contain one. */
const otherMeanings: ReadonlySet<string> = new Set('select and or order limit offset columns on_conflict'.split(' '));

/** Whether a column has a filter by its name. */
export function hasFilter(column: string): boolean {
  return !otherMeanings.has(column);
}

/** Returns the name of a column as the key of a filter: in double quotes, unless it has letters, digits and underscores only. */
export function filterKey(column: string): string {
  return /^[\p{L}\p{N}_]+$/u.test(column) ? column : `"${column.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** Returns a filter for each column, and those that combine filters. */
export function filterParameters({ columns }: Target): readonly DescribedParameter[] {
  const [first = 'id'] = columns.keys();
  return [
    ...[...columns.values()]
      .filter(({ name }) => hasFilter(name))
      .map(({ name, type }): DescribedParameter => ({
        ...optional,
        name: filterKey(name),
        description: `${type.display}: a filter, "<operator>.<value>"`,
        value: example('is.null'),
      })),
    ...(['and', 'or'] as const).map((name): DescribedParameter => ({
      ...optional,
      name,
      description: `Filters that are joined by "${name}".`,
      value: example(`(${first}.is.null,${first}.eq.1)`),
    })),
  ];
}

/** Returns order and page. */
export function pageParameters({ columns, options: { maxRows } }: Target): readonly DescribedParameter[] {
  const [first = 'id'] = columns.keys();
  return [
    {
      ...optional,
      name: 'order',
      description: 'Columns, each with an optional .asc or .desc, then .nullsfirst or .nullslast.',
      value: example(`${first}.desc`),
    },
    {
      ...optional,
      name: 'limit',
      description: `The number of rows; a response has at most ${maxRows}.`,
      value: { kind: 'integer', minimum: 0 },
    },
    { ...optional, name: 'offset', description: 'The number of rows to skip.', value: count },
  ];
}

export const columnsParameter: DescribedParameter = {
  ...optional,
  name: 'columns',
  description: 'The members of the body that are written, separated by commas: all by default.',
  value: text,
};

export const conflictParameter: DescribedParameter = {
  ...optional,
  name: 'on_conflict',
  description:
    'The columns of the unique constraint for Prefer: resolution, separated by commas: by default the primary key.',
  value: text,
};

const header = { in: 'header', required: false } as const;

/** Returns the header that names the schema. */
export function schemaHeader({ schema, endpoint: { method } }: Target): DescribedParameter {
  const isRead = method === 'GET' || method === 'HEAD';
  return {
    ...header,
    name: isRead ? 'Accept-Profile' : 'Content-Profile',
    description: 'The schema of the table or function.',
    value: oneOf(schema),
  };
}

export const rangeHeader: DescribedParameter = {
  ...header,
  name: 'Range',
  description: 'The first and the last row of the page, from 0 on, instead of limit and offset.',
  value: example('0-24'),
};

/** Returns the header with the preferences (RFC 7240) that have an effect. */
export function preferHeader(preferences: readonly string[]): DescribedParameter {
  return {
    ...header,
    name: 'Prefer',
    description: `Preferences, separated by commas: ${preferences.join('; ')}.`,
    value: example(preferences[0]!.split(/[ ,]/, 1)[0]!),
  };
}
