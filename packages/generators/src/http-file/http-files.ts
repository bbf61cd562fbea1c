import type { Endpoint } from '@pgway/core';
import { type GeneratedFile, GeneratorError } from '../generated-file.ts';
import { withClientParameters } from '../client-endpoint.ts';
import { quote } from '../source-text.ts';
import { type HttpFileOptions, resolveHttpFileOptions } from './options.ts';
import { changesRequestText, requestText } from './request-text.ts';

/**
 * Returns sample requests in the format of the REST clients of VS Code and JetBrains: one document, or one per schema.
 * `option` and `folder` have no effect.
 * @throws GeneratorError for invalid options, and for schemas with the same file name
 */
export function httpDocuments(
  endpoints: readonly Endpoint[],
  partial: Partial<HttpFileOptions>,
): readonly { readonly name: string; readonly content: string }[] {
  const options = resolveHttpFileOptions(partial);
  if (options.fileMode === 'database') return [toDocument('', endpoints, options)];
  const schemas = [...new Set(endpoints.map(({ schema }) => schema))].toSorted();
  const documents = schemas.map((schema) =>
    toDocument(
      schema,
      endpoints.filter((endpoint) => endpoint.schema === schema),
      options,
    ),
  );
  rejectSharedNames(
    documents.map(({ name }) => name),
    schemas,
  );
  return documents;
}

/**
 * Returns the documents as files; none without `folder`, and with `option: 'endpoint'`.
 * @throws GeneratorError like `httpDocuments`
 */
export function httpFiles(
  endpoints: readonly Endpoint[],
  partial: Partial<HttpFileOptions>,
  _now: Date,
): readonly GeneratedFile[] {
  const options = resolveHttpFileOptions(partial);
  const { folder } = options;
  if (folder === null || options.option === 'endpoint') return [];
  const root = folder.replace(/(?<=.)[/\\]+$/, '');
  return httpDocuments(endpoints, options).map(({ name, content }) => ({
    path: `${root}/${name}`,
    content,
    timestampLines: [],
  }));
}

function toDocument(
  schema: string,
  endpoints: readonly Endpoint[],
  options: HttpFileOptions,
): { readonly name: string; readonly content: string } {
  const requests = withClientParameters(endpoints).flatMap((endpoint) => [
    requestText(endpoint, options),
    ...changesRequestText(endpoint, options),
  ]);
  return {
    name: fileName(schema, options),
    content: `@host=${options.host.replace(/\/+$/, '')}\n\n${requests.join('\n\n###\n\n')}\n`,
  };
}

/** Replaces characters of names that separate folders or that file systems reject. */
function fileName(schema: string, { namePattern, databaseName }: HttpFileOptions): string {
  const safe = (text: string): string => text.replaceAll(/[^\p{L}\p{N}_-]/gu, '_');
  const pattern = schema === '' ? namePattern.replace(/[_.-]*\{1\}/, '') : namePattern;
  const name = pattern.replaceAll(/\{([01])\}/g, (_, index: string) => safe(index === '0' ? databaseName : schema));
  return `${name}.http`;
}

function rejectSharedNames(names: readonly string[], schemas: readonly string[]): void {
  const index = names.findIndex((name, at) => names.indexOf(name) !== at);
  if (index === -1) return;
  const other = schemas[names.indexOf(names[index]!)]!;
  throw new GeneratorError(
    `httpFile: the schemas ${quote(other)} and ${quote(schemas[index]!)} have the same file ${quote(names[index]!)}; exclude one of them`,
  );
}
