import type { Endpoint } from '../../endpoints/endpoint.ts';
import { groupBy } from '../../endpoints/group-by.ts';

/**
 * Groups endpoints with the same authorization, connection, limits and settings. Related rows come from tables of one group: a request must
 * not read by a foreign key what its caller cannot read directly, policies of the related table may read the settings of its endpoint, and
 * logs mask the values of a request by its endpoint.
 */
export function groupByAccess(endpoints: readonly Endpoint[]): readonly (readonly Endpoint[])[] {
  return [...groupBy(endpoints, accessKey).values()];
}

function accessKey(endpoint: Endpoint): string {
  const { authorization, basicAuthentication, connection, requestHeaders, userContext, rateLimit, sensitive } =
    endpoint;
  const roles = [...authorization.roles].toSorted();
  return JSON.stringify([
    authorization.required,
    roles,
    basicAuthentication,
    connection,
    requestHeaders,
    userContext,
    rateLimit,
    sensitive,
  ]);
}
