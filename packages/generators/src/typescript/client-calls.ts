import type { Endpoint } from '@pgway/core';
import { withClientParameters } from '../client-endpoint.ts';
import { pascalCase } from '../naming.ts';
import { clientModel } from './client-model.ts';
import { type TypescriptClientOptions, resolveTypescriptClientOptions } from './options.ts';

/** How a program calls an endpoint with the generated client. */
export interface ClientCall {
  /** The function of the call. */
  readonly name: string;
  /** The name of the module in an import. */
  readonly module: string;
  /** Whether the function takes an object with the parameters. */
  readonly takesRequest: boolean;
  /** Whether it resolves to a value. */
  readonly hasResult: boolean;
}

/** The module of a client whose options name no file. */
const defaultModule = 'api.ts';

/** Returns a function that looks up the call of an endpoint; null for endpoints that the client leaves out. */
export function clientCalls(
  endpoints: readonly Endpoint[],
  partial: Partial<TypescriptClientOptions>,
): (endpoint: Endpoint) => ClientCall | null {
  const options = resolveTypescriptClientOptions(partial);
  const { functions } = clientModel(withClientParameters(endpoints), options);
  const calls = new Map(
    functions.map(({ endpoint, name, request, result, statusCode }): [string, ClientCall] => [
      endpointKey(endpoint),
      {
        name,
        module: moduleOf(endpoint, options),
        takesRequest: request !== null,
        hasResult: statusCode || result.kind !== 'nothing',
      },
    ]),
  );
  return (endpoint) => (endpoint.dialect === undefined ? (calls.get(endpointKey(endpoint)) ?? null) : null);
}

/** Endpoints are copied without the parameters of the gateway, and have no identity of their own. */
function endpointKey({ method, path, id }: Endpoint): string {
  return JSON.stringify([method, path, id]);
}

function moduleOf({ schema }: Endpoint, { filePath, bySchema }: TypescriptClientOptions): string {
  const file = (filePath ?? defaultModule).split('/').at(-1)!;
  return `./${file.replaceAll('{0}', bySchema ? pascalCase(schema) : '')}`;
}
