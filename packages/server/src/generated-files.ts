/** What the generators make of the endpoints under a configuration. */
import {
  httpFiles,
  openApiDiagnostics,
  openApiFiles,
  typescriptClientDiagnostics,
  typescriptClientFiles,
} from '@pgway/core';
import type {
  Diagnostic,
  Endpoint,
  GeneratedFile,
  HttpFileOptions,
  OpenApiOptions,
  TypescriptClientOptions,
} from '@pgway/core';
import { urlOf } from './cli/startup-banner.ts';
import type { Configuration } from './config/schema.ts';

/** Files that may, or may not, be written over others. */
export interface FileSet {
  /** The section that says so. */
  readonly section: 'typescriptClient' | 'httpFile' | 'openApi';
  readonly overwrite: boolean;
  readonly files: readonly GeneratedFile[];
}

/** Whether any section asks for files. */
export function isConfigured({ typescriptClient, httpFile, openApi }: Configuration): boolean {
  const wantsRequests = httpFile.folder !== null && httpFile.option !== 'endpoint';
  return typescriptClient.filePath !== null || openApi.filePath !== null || wantsRequests;
}

/** Whether comments want the definitions of routines. */
export function wantsDefinitions({ typescriptClient, httpFile }: Configuration): boolean {
  return typescriptClient.commentHeader === 'full' || httpFile.commentHeader === 'full';
}

/** @throws GeneratorError for options that do not go together, and for endpoints that make one name */
export function fileSets(
  endpoints: readonly Endpoint[],
  configuration: Configuration,
  connectionString: string,
): readonly FileSet[] {
  const at = new Date();
  const client = clientOptions(configuration);
  const requests = httpFileOptions(configuration, connectionString);
  const document = openApiOptions(configuration);
  return [
    {
      section: 'typescriptClient',
      overwrite: configuration.typescriptClient.fileOverwrite,
      files: typescriptClientFiles(endpoints, client, at),
    },
    { section: 'httpFile', overwrite: configuration.httpFile.fileOverwrite, files: httpFiles(endpoints, requests, at) },
    { section: 'openApi', overwrite: configuration.openApi.fileOverwrite, files: openApiFiles(endpoints, document) },
  ];
}

/** What authors should know of the files that are generated; each once. */
export function fileDiagnostics(endpoints: readonly Endpoint[], configuration: Configuration): readonly Diagnostic[] {
  const { typescriptClient, openApi } = configuration;
  const diagnostics = [
    ...(typescriptClient.filePath === null ? [] : typescriptClientDiagnostics(endpoints, clientOptions(configuration))),
    ...(openApi.filePath === null ? [] : openApiDiagnostics(endpoints, openApiOptions(configuration))),
  ];
  return [...new Map(diagnostics.map((one) => [JSON.stringify(one), one])).values()];
}

/** What authors should know of the documents that are served. */
export function documentDiagnostics(
  endpoints: readonly Endpoint[],
  configuration: Configuration,
): readonly Diagnostic[] {
  const { path, docsPath } = configuration.openApi;
  return path === null && docsPath === null ? [] : openApiDiagnostics(endpoints, openApiOptions(configuration));
}

function clientOptions(configuration: Configuration): Partial<TypescriptClientOptions> {
  const { typescriptClient, gateway } = configuration;
  return { ...typescriptClient, urlPathPrefix: gateway.urlPathPrefix, host: hostOf(configuration) };
}

export function httpFileOptions(configuration: Configuration, connectionString: string): Partial<HttpFileOptions> {
  const { path: _, ...options } = configuration.httpFile;
  return { ...options, host: hostOf(configuration), databaseName: databaseOf(connectionString) };
}

export function openApiOptions({ openApi, gateway }: Configuration): Partial<OpenApiOptions> {
  const { path: _, docsPath: _page, ...options } = openApi;
  return { ...options, urlPathPrefix: gateway.urlPathPrefix };
}

function hostOf({ host, port }: Configuration): string {
  return urlOf(host, port);
}

/** The name of the database, in either form of a connection string. */
function databaseOf(connectionString: string): string {
  if (/^postgres(ql)?:/.test(connectionString)) {
    const path = /^[a-z]+:\/\/[^/?#]*\/([^?#]*)/.exec(connectionString)?.[1] ?? '';
    const named = path === '' ? (/[?&]dbname=([^&#]*)/.exec(connectionString)?.[1] ?? '') : path;
    return decodeURIComponent(named) || 'database';
  }
  return /(?:^|;)\s*database\s*=\s*([^;]*)/i.exec(connectionString)?.[1]?.trim() || 'database';
}
