/** The options of the generators for a configuration. */
import type { HttpFileOptions, OpenApiOptions, TypescriptClientOptions } from '@pgway/generators';
import { serverUrl } from '../address.ts';
import type { Configuration } from './schema.ts';
import { isTls } from './schema/tls.ts';

/** Returns the options of the generator of typed clients. */
export function toTypescriptClientOptions(configuration: Configuration): Partial<TypescriptClientOptions> {
  const { typescriptClient, gateway, authentication } = configuration;
  return {
    ...typescriptClient,
    urlPathPrefix: gateway.urlPathPrefix,
    host: hostUrl(configuration),
    // The generator has no batches with it.
    batchPath: typescriptClient.readOwnWrites ? null : gateway.batchPath,
    xsrfTokenHeaderName: authentication.antiforgeryPath === null ? null : 'X-XSRF-TOKEN',
  };
}

/** Returns the options of the generator of request files. */
export function toHttpFileOptions(configuration: Configuration, connectionString: string): Partial<HttpFileOptions> {
  const { path: _, ...options } = configuration.httpFile;
  return {
    ...options,
    host: hostUrl(configuration),
    databaseName: databaseOf(connectionString),
    fileMode: options.namePattern.includes('{1}') ? 'schema' : 'database',
  };
}

/** Returns the options of the generator of OpenAPI documents. */
export function toOpenApiOptions({ openApi, gateway, typescriptClient }: Configuration): Partial<OpenApiOptions> {
  const { path: _, docsPath: _page, ...options } = openApi;
  return {
    ...options,
    urlPathPrefix: gateway.urlPathPrefix,
    batchPath: gateway.batchPath,
    // Operations have the names of the functions of the client.
    useRoutineNameInsteadOfEndpoint: typescriptClient.useRoutineNameInsteadOfEndpoint,
  };
}

function hostUrl({ host, port, tls }: Configuration): string {
  return serverUrl(host, port, isTls(tls) ? 'https' : 'http');
}

/** Returns the database of a URL or of a `key=value;` connection string. */
export function databaseOf(connectionString: string): string {
  if (/^postgres(ql)?:/.test(connectionString)) {
    const path = /^[a-z]+:\/\/[^/?#]*\/([^?#]*)/.exec(connectionString)?.[1] ?? '';
    const named = path === '' ? (/[?&]dbname=([^&#]*)/.exec(connectionString)?.[1] ?? '') : path;
    return decodeURIComponent(named) || 'database';
  }
  return /(?:^|;)\s*database\s*=\s*([^;]*)/i.exec(connectionString)?.[1]?.trim() || 'database';
}
