/** The options of the generators for a configuration. */
import type { HttpFileOptions, OpenApiOptions, TypescriptClientOptions } from '@pgway/generators';
import { serverUrl } from '../address.ts';
import type { Configuration } from './schema.ts';
import { isTls } from './schema/tls.ts';

/** Returns the options of the generator of typed clients. */
export function toTypescriptClientOptions(configuration: Configuration): Partial<TypescriptClientOptions> {
  const { typescriptClient, gateway } = configuration;
  return { ...typescriptClient, urlPathPrefix: gateway.urlPathPrefix, host: hostUrl(configuration) };
}

/** Returns the options of the generator of request files. */
export function toHttpFileOptions(configuration: Configuration, connectionString: string): Partial<HttpFileOptions> {
  const { path: _, ...options } = configuration.httpFile;
  return { ...options, host: hostUrl(configuration), databaseName: databaseOf(connectionString) };
}

/** Returns the options of the generator of OpenAPI documents. */
export function toOpenApiOptions({ openApi, gateway }: Configuration): Partial<OpenApiOptions> {
  const { path: _, docsPath: _page, ...options } = openApi;
  return { ...options, urlPathPrefix: gateway.urlPathPrefix, batchPath: gateway.batchPath };
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
