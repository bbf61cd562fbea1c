import type { Diagnostic, Endpoint } from '@pgway/core';
import type { GeneratedFile } from './generated-file.ts';
import { writeFiles } from './write-files.ts';
import { httpFiles } from './http-file/http-files.ts';
import { type HttpFileOptions, resolveHttpFileOptions } from './http-file/options.ts';
import { openApiDiagnostics, openApiFiles } from './openapi/document.ts';
import { type OpenApiOptions, resolveOpenApiOptions } from './openapi/options.ts';
import { typescriptClientDiagnostics, typescriptClientFiles } from './typescript/client-files.ts';
import { type TypescriptClientOptions, resolveTypescriptClientOptions } from './typescript/options.ts';

/** A callback of the option `endpointCreateHandlers`, which receives all endpoints and returns diagnostics. */
export type EndpointCreateHandler = (endpoints: readonly Endpoint[]) => Promise<readonly Diagnostic[]>;

interface Generator {
  readonly files: (endpoints: readonly Endpoint[], now: Date) => readonly GeneratedFile[];
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
 * Returns a handler that writes a typed client at start and at each refresh that changes it.
 * @throws GeneratorError for invalid options
 */
export function typescriptClient(partial: Partial<TypescriptClientOptions>): EndpointCreateHandler {
  const options = resolveTypescriptClientOptions(partial);
  return createHandler(
    {
      files: (endpoints, now) => typescriptClientFiles(endpoints, options, now),
      diagnostics: (endpoints) => typescriptClientDiagnostics(endpoints, options),
    },
    options,
  );
}

/**
 * Returns a handler that writes request files (`.http`) for the REST clients of editors.
 * @throws GeneratorError for invalid options
 */
export function httpFile(partial: Partial<HttpFileOptions>): EndpointCreateHandler {
  const options = resolveHttpFileOptions(partial);
  return createHandler(
    { files: (endpoints, now) => httpFiles(endpoints, options, now), diagnostics: () => [] },
    options,
  );
}

/**
 * Returns a handler that writes an OpenAPI document.
 * @throws GeneratorError for invalid options
 */
export function openApi(partial: Partial<OpenApiOptions>): EndpointCreateHandler {
  const options = resolveOpenApiOptions(partial);
  return createHandler(
    {
      files: (endpoints) => openApiFiles(endpoints, options),
      diagnostics: (endpoints) => openApiDiagnostics(endpoints, options),
    },
    options,
  );
}
