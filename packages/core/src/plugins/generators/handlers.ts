import type { Endpoint } from '../../plan/endpoint.ts';
import type { GeneratedFile } from './file.ts';
import { writeFiles } from './files.ts';
import { httpFiles } from './http-file/generate.ts';
import { type HttpFileOptions, httpFileOptions } from './http-file/options.ts';
import { openApiFiles } from './openapi/generate.ts';
import { type OpenApiOptions, openApiOptions } from './openapi/options.ts';
import { typescriptClientFiles } from './typescript/generate.ts';
import { type TypescriptClientOptions, typescriptClientOptions } from './typescript/options.ts';

/** For the option `endpointCreateHandlers`: is told of all endpoints, and writes files. */
export type EndpointCreateHandler = (endpoints: readonly Endpoint[]) => Promise<void>;

type Generate = (endpoints: readonly Endpoint[], at: Date) => readonly GeneratedFile[];

function handler(generate: Generate, { fileOverwrite }: { readonly fileOverwrite: boolean }): EndpointCreateHandler {
  return async (endpoints) => {
    await writeFiles(generate(endpoints, new Date()), { folder: process.cwd(), overwrite: fileOverwrite });
  };
}

/**
 * Writes a typed client at the start of the gateway, and at every refresh that changes it.
 * @throws GeneratorError that names the option which cannot be
 */
export function typescriptClient(given: Partial<TypescriptClientOptions>): EndpointCreateHandler {
  const options = typescriptClientOptions(given);
  return handler((endpoints, at) => typescriptClientFiles(endpoints, options, at), options);
}

/** Writes a file of requests to try, as `typescriptClient` writes its files. */
export function httpFile(given: Partial<HttpFileOptions>): EndpointCreateHandler {
  const options = httpFileOptions(given);
  return handler((endpoints, at) => httpFiles(endpoints, options, at), options);
}

/** Writes an OpenAPI document, as `typescriptClient` writes its files. */
export function openApi(given: Partial<OpenApiOptions>): EndpointCreateHandler {
  const options = openApiOptions(given);
  return handler((endpoints) => openApiFiles(endpoints, options), options);
}
