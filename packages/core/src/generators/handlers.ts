import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { GeneratedFile } from './generated-file.ts';
import { writeFiles } from './write-files.ts';
import { httpFiles } from './http-file/http-files.ts';
import { type HttpFileOptions, httpFileOptions } from './http-file/options.ts';
import { openApiDiagnostics, openApiFiles } from './openapi/document.ts';
import { type OpenApiOptions, openApiOptions } from './openapi/options.ts';
import { typescriptClientDiagnostics, typescriptClientFiles } from './typescript/client-files.ts';
import { type TypescriptClientOptions, typescriptClientOptions } from './typescript/options.ts';

/** For the option `endpointCreateHandlers`: gets all endpoints, writes files, and returns what their authors should know. */
export type EndpointCreateHandler = (endpoints: readonly Endpoint[]) => Promise<readonly Diagnostic[]>;

interface Generator {
  readonly files: (endpoints: readonly Endpoint[], at: Date) => readonly GeneratedFile[];
  readonly diagnostics: (endpoints: readonly Endpoint[]) => readonly Diagnostic[];
}

function createHandler(
  { files, diagnostics }: Generator,
  { fileOverwrite }: { readonly fileOverwrite: boolean },
): EndpointCreateHandler {
  return async (endpoints) => {
    await writeFiles(files(endpoints, new Date()), { folder: process.cwd(), overwrite: fileOverwrite });
    return diagnostics(endpoints);
  };
}

/**
 * Writes a typed client at the start of the gateway, and at every refresh that changes it.
 * @throws GeneratorError that names the option which cannot be
 */
export function typescriptClient(given: Partial<TypescriptClientOptions>): EndpointCreateHandler {
  const options = typescriptClientOptions(given);
  return createHandler(
    {
      files: (endpoints, at) => typescriptClientFiles(endpoints, options, at),
      diagnostics: (endpoints) => typescriptClientDiagnostics(endpoints, options),
    },
    options,
  );
}

/** Writes a file of requests to try, as `typescriptClient` writes its files. */
export function httpFile(given: Partial<HttpFileOptions>): EndpointCreateHandler {
  const options = httpFileOptions(given);
  return createHandler({ files: (endpoints, at) => httpFiles(endpoints, options, at), diagnostics: () => [] }, options);
}

/** Writes an OpenAPI document, as `typescriptClient` writes its files. */
export function openApi(given: Partial<OpenApiOptions>): EndpointCreateHandler {
  const options = openApiOptions(given);
  return createHandler(
    {
      files: (endpoints) => openApiFiles(endpoints, options),
      diagnostics: (endpoints) => openApiDiagnostics(endpoints, options),
    },
    options,
  );
}
