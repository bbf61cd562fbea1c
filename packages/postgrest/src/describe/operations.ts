/** What the endpoints of tables and functions take and return, for documents, clients and tools. */
import type { Endpoint } from '@pgway/core';
import type {
  DescribedContent,
  DescribedMember,
  DescribedOperation,
  DescribedParameter,
  DescribedResponse,
  DescribedValue,
} from '@pgway/core/internal';
import { isRoot } from '../root/root-endpoint.ts';
import { functionOf } from '../rpc/function-target.ts';
import { type Target, targetOf } from '../target.ts';
import { describeCall } from './calls.ts';
import {
  columnsParameter,
  conflictParameter,
  filterKey,
  filterGrammar,
  filterParameters,
  pageParameters,
  preferHeader,
  rangeHeader,
  schemaHeader,
  selectParameter,
} from './parameters.ts';
import { errorResponses, header, rowsContent } from './responses.ts';
import { list, reshapedRow, text, writtenRow } from './values.ts';

/** Returns the description of an endpoint of the dialect. */
export function describeOperation(endpoint: Endpoint): DescribedOperation | null {
  if (isRoot(endpoint)) return null;
  const called = functionOf(endpoint);
  if (called !== undefined) return describeCall(endpoint, called);
  const target = targetOf(endpoint);
  switch (endpoint.method) {
    case 'GET':
      return describeSelect(target);
    case 'POST':
      return describeInsert(target);
    case 'PUT':
      return describeUpsert(target);
    case 'PATCH':
      return describeUpdate(target);
    default:
      return describeDelete(target);
  }
}

function tableName({ schema, name }: Target): string {
  return `${schema}.${name}`;
}

function describeSelect(target: Target): DescribedOperation {
  const parameters = [selectParameter(target), ...filterParameters(target), ...pageParameters(target)];
  const range = header('Content-Range', 'The first and the last row, and the number of all rows or *', text);
  return {
    action: 'select',
    summary: `Rows of ${tableName(target)}`,
    description: `The rows that meet all filters. ${filterGrammar} Singular responses have one row, or are an error 406.`,
    parameters: [
      ...parameters,
      rangeHeader,
      schemaHeader(target),
      preferHeader(['count=exact, count=planned or count=estimated counts all rows', ...generalPreferences(target)]),
    ],
    body: null,
    responses: [
      { status: '200', description: 'Rows', headers: [range, ...generalHeaders], content: rowsContent(target) },
      { status: '206', description: 'A part of the counted rows', headers: [range], content: rowsContent(target) },
      ...errorResponses(['406', '416']),
    ],
    tool: {
      description: `Reads rows of ${tableName(target)} that meet all given filters. ${filterGrammar}`,
      parameters,
      body: null,
      headers: [['accept-profile', target.schema]],
      rows: list(reshapedRow(target)),
    },
  };
}

/** What writes have in common. */
interface Write {
  readonly action: 'insert' | 'upsert' | 'update' | 'delete';
  readonly summary: string;
  readonly description: string;
  readonly toolDescription: string;
  readonly parameters: readonly DescribedParameter[];
  readonly preferences: readonly string[];
  readonly body: DescribedOperation['body'];
  /** The name of the body as an argument of a tool; null: there is no body. */
  readonly bodyArgument: string | null;
  readonly responses: readonly DescribedResponse[];
}

function describeWrite(target: Target, write: Write): DescribedOperation {
  const { action, summary, description, parameters, preferences, body, responses } = write;
  return {
    action,
    summary,
    description,
    parameters: [
      ...parameters,
      schemaHeader(target),
      preferHeader([
        'return=representation sends the rows, return=minimal nothing (the default)',
        ...preferences,
        'count=exact counts the rows',
        ...generalPreferences(target),
      ]),
    ],
    body,
    responses,
    tool: {
      description: write.toolDescription,
      // No preference of a tool is about conflicts.
      parameters: parameters.filter((parameter) => parameter !== conflictParameter),
      body: body === null ? null : toolBody(write.bodyArgument!, body),
      headers: [
        ['prefer', action === 'insert' ? 'return=representation, missing=default' : 'return=representation'],
        ['content-profile', target.schema],
      ],
      rows: list(reshapedRow(target)),
    },
  };
}

function toolBody(name: string, { required, content }: NonNullable<DescribedOperation['body']>): DescribedMember {
  return { name, description: 'Values by column.', required, value: content['application/json']! };
}

function describeInsert(target: Target): DescribedOperation {
  const row = writtenRow(target, 'insert');
  const { conflictActions } = target.options;
  const resolutions = conflictActions.map((action) =>
    action === 'merge'
      ? 'resolution=merge-duplicates updates rows that exist'
      : 'resolution=ignore-duplicates skips rows that exist',
  );
  const location = header('Location', 'The address of one inserted row, with Prefer: return=headers-only', text);
  return describeWrite(target, {
    action: 'insert',
    summary: `Inserts rows into ${tableName(target)}`,
    description: 'One row, or a list of rows, all or none.',
    toolDescription: `Inserts rows into ${tableName(target)}, all or none, and returns them.`,
    parameters: [
      selectParameter(target),
      columnsParameter,
      ...(conflictActions.length === 0 ? [] : [conflictParameter]),
    ],
    preferences: [
      'return=headers-only sends Location',
      'missing=default sets defaults for members that rows lack',
      ...resolutions,
    ],
    body: {
      required: true,
      content: {
        'application/json': { kind: 'oneOf', values: [row, list(row)] },
        'text/csv': text,
        'application/x-www-form-urlencoded': row,
      },
    },
    bodyArgument: 'rows',
    responses: [
      ...writeResponses(target, '201', 'Inserted; rows with return=representation', [location]),
      ...(conflictActions.includes('merge')
        ? writeResponses(target, '200', 'Rows that existed were updated, and none inserted', [])
        : []),
      ...errorResponses(['409']),
    ],
  });
}

function describeUpsert(target: Target): DescribedOperation {
  const keys = new Set(target.key.map(({ name }) => filterKey(name)));
  const key = filterParameters(target).filter(({ name }) => keys.has(name));
  return describeWrite(target, {
    action: 'upsert',
    summary: `Inserts or replaces one row of ${tableName(target)}`,
    description: 'The query string has an eq filter for each column of the primary key, and the body has the same key.',
    toolDescription: `Inserts or replaces one row of ${tableName(target)}: an eq filter for each column of its primary key, and the row.`,
    parameters: [
      selectParameter(target),
      ...key.map((parameter) => ({ ...parameter, description: 'Part of the primary key: eq.<value>', required: true })),
    ],
    preferences: ['missing=default sets defaults for members that the row lacks'],
    body: { required: true, content: { 'application/json': writtenRow(target, 'insert') } },
    bodyArgument: 'row',
    responses: [
      ...writeResponses(target, '200', 'The replaced row, with return=representation', []),
      ...writeResponses(target, '201', 'The inserted row, with return=representation', []),
      noContent,
      ...errorResponses(['409']),
    ],
  });
}

const limitsChanges = 'max-affected=<number> with handling=strict refuses to change more rows';

function describeUpdate(target: Target): DescribedOperation {
  return describeWrite(target, {
    action: 'update',
    summary: `Updates rows of ${tableName(target)}`,
    description: `The rows that meet all filters. ${filterGrammar}${filterRule(target.options.allowUnfilteredUpdate)}`,
    toolDescription: `Sets columns of the rows of ${tableName(target)} that meet all given filters, and returns these rows. ${filterGrammar}${filterRule(target.options.allowUnfilteredUpdate)}`,
    parameters: [selectParameter(target), ...filterParameters(target), ...changePage(target), columnsParameter],
    preferences: ['missing=default sets defaults for the columns that the body lacks', limitsChanges],
    body: {
      required: true,
      content: {
        'application/json': writtenRow(target, 'update'),
        'application/x-www-form-urlencoded': writtenRow(target, 'update'),
      },
    },
    bodyArgument: 'values',
    responses: [
      ...writeResponses(target, '200', 'The updated rows, with return=representation', []),
      noContent,
      ...errorResponses(['409']),
    ],
  });
}

function describeDelete(target: Target): DescribedOperation {
  return describeWrite(target, {
    action: 'delete',
    summary: `Deletes rows of ${tableName(target)}`,
    description: `The rows that meet all filters. ${filterGrammar}${filterRule(target.allowUnfilteredDelete)}`,
    toolDescription: `Deletes the rows of ${tableName(target)} that meet all given filters, and returns them. ${filterGrammar}${filterRule(target.allowUnfilteredDelete)}`,
    parameters: [selectParameter(target), ...filterParameters(target), ...changePage(target)],
    preferences: [limitsChanges],
    body: null,
    bodyArgument: null,
    responses: [
      ...writeResponses(target, '200', 'The deleted rows, with return=representation', []),
      noContent,
      ...errorResponses(['409']),
    ],
  });
}

function filterRule(isAllowed: boolean): string {
  return isAllowed ? ' Without filters: all rows.' : ' A request without filters is refused.';
}

/** Changes of a part of the rows need a primary key. */
function changePage(target: Target): readonly DescribedParameter[] {
  return target.key.length === 0 ? [] : pageParameters(target);
}

function writeResponses(
  target: Target,
  status: string,
  description: string,
  headers: readonly DescribedMember[],
): readonly DescribedResponse[] {
  const range = header('Content-Range', 'The number of rows after the slash, with Prefer: count=exact', text);
  return [{ status, description, headers: [range, ...headers, ...generalHeaders], content: rowsContent(target) }];
}

const noContent: DescribedResponse = {
  status: '204',
  description: 'Done, without return=representation',
  headers: [],
  content: {} satisfies DescribedContent,
};

const generalHeaders: readonly DescribedMember[] = [
  header('Preference-Applied', 'The preferences that had an effect', text satisfies DescribedValue),
];

function generalPreferences({ options: { transaction } }: Target): readonly string[] {
  return [
    'timezone=<name> for values with a time zone',
    'handling=strict refuses unknown preferences',
    ...(transaction.allowsOverride ? ['tx=commit or tx=rollback ends the transaction'] : []),
  ];
}
