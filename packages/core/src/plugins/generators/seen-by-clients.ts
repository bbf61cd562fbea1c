import type { Endpoint } from '../../plan/endpoint.ts';

/** The endpoints with the parameters that clients may give: what the gateway fills is no business of theirs. */
export function seenByClients(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return endpoints.map((endpoint) => {
    const parameters = endpoint.parameters.filter(
      ({ filling, hashOf, position }) => filling === undefined && (hashOf === undefined || hashOf === position),
    );
    return parameters.length === endpoint.parameters.length ? endpoint : { ...endpoint, parameters };
  });
}
