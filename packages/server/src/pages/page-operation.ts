/** An operation of the pages, from its endpoints and its Operation Object. */
import { type RelatedTable, takesQuery } from '@pgway/core/internal';
import type { Endpoint } from '@pgway/core';
import type { ClientCall, JsonSchema, OpenApiOperation } from '@pgway/generators/internal';
import type { PageOperation } from '../browser/page-data.ts';
import { pageListing } from './page-listing.ts';
import { requestParts } from './page-request.ts';
import { pageResponses, type SharedComponents } from './page-responses.ts';

/** What an operation needs of all endpoints. */
export interface OperationContext {
  readonly shared: SharedComponents;
  readonly clientCall: (endpoint: Endpoint) => ClientCall | null;
  readonly relatedTables: (endpoint: Endpoint) => readonly RelatedTable[];
}

export function pageOperation(operation: OpenApiOperation, context: OperationContext): PageOperation {
  const { path, method, endpoints, object } = operation;
  const first = endpoints[0]!;
  return {
    id: String(object['operationId']),
    method,
    path,
    schema: first.schema,
    group: first.table === null ? routineGroup(first) : first.name,
    isTable: first.table !== null,
    isVariant: first.table !== null && /^insertOnConflict|Returning$/.test(first.table.operation),
    tags: [...new Set(endpoints.flatMap(({ tags }) => tags))],
    signatures: endpoints.map(({ id }) => id),
    summary: summaryText(first, object),
    description: [...new Set(endpoints.map(({ description }) => description))].filter(Boolean).join('\n\n'),
    access: {
      required: endpoints.every(({ authorization }) => authorization.required),
      roles: [...new Set(endpoints.flatMap(({ authorization }) => authorization.roles))],
      basic: endpoints.some(({ basicAuthentication }) => basicAuthentication !== null),
    },
    loginOrLogout: first.loginOrLogout?.kind ?? null,
    ...requestParts(operation),
    listing: pageListing(first, context.relatedTables),
    takesQuery: endpoints.every(takesQuery),
    responses: pageResponses(object, context.shared),
    client: context.clientCall(first),
    workbookType: first.documents?.find(({ name }) => name === 'excel')?.mediaType ?? null,
    ...streamPaths(endpoints),
  };
}

/** Returns the operation of batches, which belongs to no endpoint. */
export function batchOperation(path: string, object: JsonSchema, shared: SharedComponents): PageOperation {
  const summary = String(object['summary']);
  return {
    id: String(object['operationId']),
    method: 'POST',
    path,
    schema: '',
    group: 'Batches',
    isTable: false,
    isVariant: false,
    tags: [],
    signatures: [],
    summary,
    description: summary,
    access: { required: false, roles: [], basic: false },
    loginOrLogout: null,
    ...requestParts({ endpoints: [], object }),
    listing: null,
    takesQuery: false,
    responses: pageResponses(object, shared),
    client: null,
    workbookType: null,
    eventsPath: null,
    changesPath: null,
  };
}

function summaryText(endpoint: Endpoint, object: JsonSchema): string {
  const { table, dialect, description } = endpoint;
  if (dialect !== undefined) return String(object['summary']);
  return table === null ? description.split('\n', 1)[0]! || resultText(endpoint) : operationText(table.operation);
}

const operationTexts: readonly (readonly [prefix: string, text: string])[] = [
  ['insertOnConflictDoNothing', 'Inserts rows whose key is new'],
  ['insertOnConflictDoUpdate', 'Inserts rows, or updates those whose key exists'],
  ['insert', 'Inserts rows'],
  ['update', 'Updates a row by its key'],
  ['delete', 'Deletes rows'],
  ['select', 'Reads rows'],
];

/** All operations of a table have its description. */
function operationText(operation: string): string {
  const [, text] = operationTexts.find(([prefix]) => operation.startsWith(prefix))!;
  return operation.endsWith('Returning') ? `${text}, and returns them` : text;
}

/** The columns or type of a result, for routines without a description. */
function resultText({ result }: Endpoint): string {
  switch (result.kind) {
    case 'value':
      return result.column.type.display;
    case 'values':
      return `list of ${result.column.type.display}`;
    case 'object':
      return `row of ${result.columns.map(({ key }) => key).join(', ')}`;
    case 'objects':
      return `rows of ${result.columns.map(({ key }) => key).join(', ')}`;
    case 'nothing':
    case 'record':
    case 'records':
      return '';
  }
}

function streamPaths(endpoints: readonly Endpoint[]): Pick<PageOperation, 'eventsPath' | 'changesPath'> {
  const [eventsPath = null] = endpoints.flatMap(({ events }) => (events === null ? [] : [events.path]));
  const [changesPath = null] = endpoints.flatMap(({ changes }) => (changes === undefined ? [] : [changes.path]));
  return { eventsPath, changesPath };
}

const routineGroups: Readonly<Record<string, string>> = { function: 'Functions', procedure: 'Procedures' };

/** Returns the first tag, by default the kind of the routine. */
function routineGroup({ tags, kind }: Endpoint): string {
  const tag = tags[0] ?? kind;
  return routineGroups[tag] ?? tag;
}
