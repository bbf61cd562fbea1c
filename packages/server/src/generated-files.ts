/** Files and diagnostics of the generators for a configuration. */
import {
  httpFiles,
  openApiDiagnostics,
  openApiFiles,
  typescriptClientDiagnostics,
  typescriptClientFiles,
} from '@pgway/generators';
import { mcpTools } from '@pgway/generators/internal';
import { databaseTypesFiles } from '@pgway/postgrest';
import type { Diagnostic, Endpoint } from '@pgway/core';
import type { GeneratedFile } from '@pgway/generators';
import type { Configuration } from './config/schema.ts';
import { toHttpFileOptions, toOpenApiOptions, toTypescriptClientOptions } from './config/generator-options.ts';

/** The files of one generator. */
export interface FileSet {
  /** The section of its settings. */
  readonly section: 'typescriptClient' | 'httpFile' | 'openApi' | 'databaseTypes';
  readonly overwrite: boolean;
  readonly files: readonly GeneratedFile[];
}

/** Whether the configuration names any file to write. */
export function writesFiles({ typescriptClient, httpFile, openApi, databaseTypes }: Configuration): boolean {
  return (
    [typescriptClient, openApi, databaseTypes].some(({ filePath }) => filePath !== null) || httpFile.folder !== null
  );
}

/** Whether generated comments contain the definitions of routines. */
export function needsDefinitions({ typescriptClient, httpFile }: Configuration): boolean {
  return typescriptClient.commentHeader === 'full' || httpFile.commentHeader === 'full';
}

/** @throws GeneratorError for contradicting options, and for name collisions */
export function generateFileSets(
  endpoints: readonly Endpoint[],
  configuration: Configuration,
  connectionString: string,
): readonly FileSet[] {
  const at = new Date();
  const client = toTypescriptClientOptions(configuration);
  const requests = toHttpFileOptions(configuration, connectionString);
  const document = toOpenApiOptions(configuration);
  return [
    {
      section: 'typescriptClient',
      overwrite: configuration.typescriptClient.fileOverwrite,
      files: typescriptClientFiles(endpoints, client, at),
    },
    { section: 'httpFile', overwrite: configuration.httpFile.fileOverwrite, files: httpFiles(endpoints, requests, at) },
    { section: 'openApi', overwrite: configuration.openApi.fileOverwrite, files: openApiFiles(endpoints, document) },
    {
      section: 'databaseTypes',
      overwrite: configuration.databaseTypes.fileOverwrite,
      files: databaseTypesFiles(endpoints, configuration.databaseTypes),
    },
  ];
}

/** Returns the diagnostics of the generated files, without duplicates. */
export function fileDiagnostics(endpoints: readonly Endpoint[], configuration: Configuration): readonly Diagnostic[] {
  const { typescriptClient, openApi } = configuration;
  const diagnostics = [
    ...(typescriptClient.filePath === null
      ? []
      : typescriptClientDiagnostics(endpoints, toTypescriptClientOptions(configuration))),
    ...(openApi.filePath === null ? [] : openApiDiagnostics(endpoints, toOpenApiOptions(configuration))),
  ];
  return [...new Map(diagnostics.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic])).values()];
}

/** Returns the diagnostics of the served API docs and tools. */
export function servedDiagnostics(endpoints: readonly Endpoint[], configuration: Configuration): readonly Diagnostic[] {
  const { openApi, mcp } = configuration;
  const hasDocs = openApi.path !== null || openApi.docsPath !== null;
  return [
    ...(hasDocs ? openApiDiagnostics(endpoints, toOpenApiOptions(configuration)) : []),
    ...(mcp.path === null ? [] : mcpTools(endpoints, mcp).diagnostics),
  ];
}
