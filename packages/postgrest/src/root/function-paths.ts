/** The paths of functions. */
import type { Endpoint, EndpointParameter } from '@pgway/core';
import {
  parameterRef,
  securityRequirement,
  summaryOf,
  type SwaggerObject,
  textSchema,
  valueSchema,
} from './swagger.ts';

const produces: readonly string[] = [
  'application/json',
  'application/vnd.pgrst.object+json;nulls=stripped',
  'application/vnd.pgrst.object+json',
];

/** Returns the path of a function with its methods. */
export function functionPath(endpoints: readonly Endpoint[]): readonly [path: string, item: SwaggerObject] {
  const { name } = endpoints[0]!;
  const item = endpoints.map((endpoint) => [endpoint.method.toLowerCase(), operation(endpoint)] as const);
  return [`/rpc/${encodeURIComponent(name)}`, Object.fromEntries(item)];
}

function operation(endpoint: Endpoint): SwaggerObject {
  const { method, name, description, parameters } = endpoint;
  const given = parameters.filter(isGiven);
  return {
    tags: [`(rpc) ${name}`],
    ...summaryOf(description),
    ...securityRequirement(endpoint),
    produces,
    parameters:
      method === 'GET'
        ? given.filter(({ unnamed }) => !unnamed).map(queryParameter)
        : [bodyParameter(given, description), parameterRef('preferParams')],
    responses: { 200: { description: 'OK' } },
  };
}

/** Whether the client gives the value. */
function isGiven({ injectedValue, hashOf, position }: EndpointParameter): boolean {
  return injectedValue === undefined && (hashOf === undefined || hashOf === position);
}

function queryParameter({ name, type, optional, variadic }: EndpointParameter): SwaggerObject {
  const { element } = type;
  const value =
    variadic && element !== undefined
      ? { type: 'array', items: textSchema(element), collectionFormat: 'multi' }
      : textSchema(type);
  return { name, required: !optional, in: 'query', ...value };
}

/** A single argument without a name is the whole body. */
function bodyParameter(given: readonly EndpointParameter[], description: string): SwaggerObject {
  const [first] = given;
  const isWhole = first?.unnamed === true && given.length === 1;
  return {
    name: 'args',
    required: true,
    in: 'body',
    schema: isWhole ? valueSchema(first.type) : argumentsSchema(given, description),
  };
}

function argumentsSchema(given: readonly EndpointParameter[], description: string): SwaggerObject {
  const required = given.filter(({ optional }) => !optional).map(({ name }) => name);
  return {
    ...(description === '' ? {} : { description }),
    type: 'object',
    properties: Object.fromEntries(given.map(({ name, type }) => [name, valueSchema(type)])),
    // OpenAPI 2 has no empty list.
    ...(required.length === 0 ? {} : { required }),
  };
}
