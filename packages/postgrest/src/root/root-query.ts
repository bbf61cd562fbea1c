/** Requests for the document of what the caller may do. */
import type { Endpoint, Query, QueryInput } from '@pgway/core';
import { groupBy, SqlText } from '@pgway/core/internal';
import { raisedProblem } from '../raised-problem.ts';
import { readProfileHeader } from '../profile.ts';
import { toTargetRequest } from '../target.ts';
import { functionOf } from '../rpc/function-target.ts';
import { beginTransaction, rollsBack } from '../transaction.ts';
import { preferenceApplied } from '../preferences.ts';
import { representation } from '../write-response.ts';
import type { AllowedResource, Privileges } from './allowed-resource.ts';
import { openApi2Document } from './document.ts';
import { allColumnsSql, privilegesSql } from './privileges.sql.ts';
import { cachedDocument, rootOf, rootTarget } from './root-endpoint.ts';

/**
 * GET and HEAD: describes the tables and functions of a schema that the caller may use, by the authorization of their endpoints and the
 * privileges of the role of the request, or all of them.
 * @throws Problem PGRST106, PGRST107
 */
export function buildRoot(input: QueryInput): Query {
  const { endpoint, context } = input;
  const target = rootTarget(endpoint, readProfileHeader(input.request));
  const { schema } = target;
  const request = toTargetRequest(target, input, {
    hasRows: false,
    own: documentType(input.request.header('accept')),
    rowType: null,
  });
  const { resources: all, followsPrivileges, serverUrl } = rootOf(endpoint);
  const allowed = all.filter((other) => other.schema === schema && (!followsPrivileges || context.mayCall(other)));
  const resources = groupResources(allowed);
  return {
    ...privilegesOf(resources, schema, followsPrivileges).finish('document'),
    ...beginTransaction(request),
    rowResponse: {
      rollsBack: rollsBack(request),
      respond: ([privileges = null, comment = null]) => {
        const make = (): string => {
          const placed = JSON.parse(privileges ?? '[]') as readonly PlacedPrivileges[];
          const { path } = target.options;
          return JSON.stringify(
            openApi2Document({ schema, comment, path, serverUrl, resources: usable(resources, placed) }),
          );
        };
        const ids = allowed.map(({ id }) => id);
        return representation(
          request,
          200,
          cachedDocument(endpoint, [schema, ids.join('\n'), privileges ?? '', comment ?? ''], make),
          preferenceApplied(request.preferences, ['tx', 'handling']),
        );
      },
      toError: (error) => raisedProblem(error) ?? error,
    },
  };
}

const openApiType = 'application/openapi+json';
const jsonType = 'application/json';

/** Returns the media type of the document: JSON if `Accept` has it first. */
function documentType(accept: string | undefined): string {
  const ranges = (accept ?? '').split(',').map((range) => range.split(';', 1)[0]!.trim().toLowerCase());
  const first = ranges.find((range) => [openApiType, jsonType, '*/*', 'application/*'].includes(range));
  return first === jsonType ? jsonType : openApiType;
}

/** Each table, and each overload of a function, with its endpoints. */
function groupResources(endpoints: readonly Endpoint[]): readonly (readonly Endpoint[])[] {
  const key = ({ table, name, parameters }: Endpoint): string =>
    JSON.stringify(table === null ? [name, parameters.map(({ type }) => type.sql)] : [name]);
  return [...groupBy(endpoints, key).values()];
}

const source = { name: 'resources', key: 'resources', type: { sql: '"pg_catalog"."text"', display: 'text' } };

function privilegesOf(
  resources: readonly (readonly Endpoint[])[],
  schema: string,
  followsPrivileges: boolean,
): SqlText {
  const wanted = resources.map(([first], place) => ({
    place,
    schema: first!.schema,
    name: first!.name,
    types: functionOf(first!) === undefined ? null : first!.parameters.map(({ type }) => type.sql),
  }));
  return new SqlText()
    .addLazily(() => (followsPrivileges ? privilegesSql : allColumnsSql), followsPrivileges ? 'privileges' : 'columns')
    .addValue(JSON.stringify(wanted), source)
    .addValue(schema, source);
}

interface PlacedPrivileges extends Privileges {
  readonly place: number;
}

function usable(
  resources: readonly (readonly Endpoint[])[],
  privileges: readonly PlacedPrivileges[],
): readonly AllowedResource[] {
  return privileges.map(({ place, ...own }) => ({ endpoints: resources[place]!, privileges: own }));
}
