import type { Diagnostic, Endpoint } from '@pgway/core';
import { type GeneratedFile, GeneratorError } from '../generated-file.ts';
import { pascalCase } from '../naming.ts';
import { withClientParameters } from '../client-endpoint.ts';
import { fileHeader, stringLiteral, escapeLine, quote } from '../source-text.ts';
import { escapeComment } from './comment-block.ts';
import { hasReadsAndWrites } from './consistency-runtime.ts';
import { functionText } from './function-text.ts';
import { callableEndpoints, clientModel, type ClientModel, type Interface, includedEndpoints } from './client-model.ts';
import { clientCollisions } from './client-names.ts';
import { type TypescriptClientOptions, resolveTypescriptClientOptions } from './options.ts';
import { commonInterfaceTexts, commonInterfaceNames } from './common-interfaces.ts';
import { runtime } from './runtime.ts';
import { type ChangeStreamFunction, tableClientSections } from './table-client.ts';
import { memberText, type TypeScriptOnly } from './type-text.ts';

/**
 * Returns a typed client of the endpoints: a module, or one per schema, each with a separate file of types if enabled.
 * @param now the time for header lines
 * @throws GeneratorError for invalid options, and for schemas with the same file
 */
export function typescriptClientFiles(
  endpoints: readonly Endpoint[],
  partial: Partial<TypescriptClientOptions>,
  now: Date,
): readonly GeneratedFile[] {
  const options = resolveTypescriptClientOptions(partial);
  const { filePath } = options;
  if (filePath === null) return [];
  const paths = new Map<string, string>();
  const modules = splitModules(endpoints, options).flatMap(({ schema, endpoints: members }) => {
    const path = modulePath(filePath, schema);
    if (schema === null) return moduleFiles(members, path, options, now);
    const other = paths.get(path);
    if (other !== undefined) {
      throw new GeneratorError(
        `typescriptClient: the schemas ${quote(other)} and ${quote(schema)} have the same file ${quote(path)}; add one of them to skipSchemas`,
      );
    }
    paths.set(path, schema);
    return moduleFiles(members, path, options, now);
  });
  const tables = tableModule(endpoints, filePath, options, now);
  const shared = tables.find(({ path }) => modules.some((other) => other.path === path));
  if (shared !== undefined) {
    throw new GeneratorError(
      `typescriptClient.filePath: the client of the tables and that of a schema have the same file ${quote(shared.path)}; change filePath`,
    );
  }
  return [...modules, ...tables];
}

/** Returns the module of the tables of a dialect; empty without tables. */
function tableModule(
  endpoints: readonly Endpoint[],
  filePath: string,
  options: TypescriptClientOptions,
  now: Date,
): readonly GeneratedFile[] {
  const extension = options.skipTypes ? '.$1js' : '.$1ts';
  const path = modulePath(filePath, null).replace(/(?:\.([cm]?)[jt]s)?$/, `Tables${extension}`);
  const sections = tableClientSections(endpoints, options, () => changeStreams(endpoints, path, options));
  return sections === null ? [] : [toFile(path, sections, options, now)];
}

function modulePath(filePath: string, schema: string | null): string {
  return filePath.replaceAll('{0}', schema === null ? '' : pascalCase(schema));
}

/** Returns the functions of the other modules that open streams of row changes. */
function changeStreams(
  endpoints: readonly Endpoint[],
  tablesPath: string,
  options: TypescriptClientOptions,
): readonly ChangeStreamFunction[] {
  return splitModules(endpoints, options).flatMap(({ schema, endpoints: members }) =>
    clientModel(members, options).functions.flatMap(({ endpoint, changes, changesName }) =>
      changes === null
        ? []
        : [
            {
              schema: endpoint.schema,
              table: endpoint.name,
              name: changesName,
              module: relativeImport(tablesPath, toModuleName(modulePath(options.filePath!, schema), options)),
            },
          ],
    ),
  );
}

function toModuleName(path: string, { skipTypes }: TypescriptClientOptions): string {
  return skipTypes ? path.replace(/\.([cm]?)ts$/, '.$1js') : path;
}

/** Returns the specifier with which one file of a project imports another. */
function relativeImport(from: string, to: string): string {
  const [source, target] = [from, to].map((path) => path.split(/[/\\]+/)) as [string[], string[]];
  let shared = 0;
  while (shared < Math.min(source.length, target.length) - 1 && source[shared] === target[shared]) shared++;
  const up = '../'.repeat(source.length - 1 - shared);
  return `${up === '' ? './' : up}${target.slice(shared).join('/')}`;
}

/**
 * Returns a warning for each function, URL and event source whose name has a number because of a collision.
 * @throws GeneratorError for invalid options
 */
export function typescriptClientDiagnostics(
  endpoints: readonly Endpoint[],
  partial: Partial<TypescriptClientOptions>,
): readonly Diagnostic[] {
  const options = resolveTypescriptClientOptions(partial);
  return splitModules(endpoints, options).flatMap(({ endpoints: members }) =>
    clientCollisions(callableEndpoints(includedEndpoints(members, options)), options),
  );
}

/** Returns the endpoints of each module; the schema is null without `bySchema`. */
function splitModules(
  endpoints: readonly Endpoint[],
  { bySchema }: TypescriptClientOptions,
): readonly { readonly schema: string | null; readonly endpoints: readonly Endpoint[] }[] {
  const visible = withClientParameters(endpoints);
  if (!bySchema) return [{ schema: null, endpoints: visible }];
  const schemas = [...new Set(visible.map(({ schema }) => schema))].toSorted();
  return schemas.map((schema) => ({ schema, endpoints: visible.filter((endpoint) => endpoint.schema === schema) }));
}

function moduleFiles(
  endpoints: readonly Endpoint[],
  path: string,
  given: TypescriptClientOptions,
  now: Date,
): readonly GeneratedFile[] {
  const model = clientModel(endpoints, given);
  const options = { ...given, readOwnWrites: given.readOwnWrites && hasReadsAndWrites(model) };
  if (options.bySchema && model.functions.length === 0) return [];
  const { skipTypes, createSeparateTypeFile } = options;
  const typesPath = path.replace(/(\.[cm]?ts)?$/, 'Types.d.ts');
  const types = skipTypes ? [] : [...commonInterfaceTexts(model, options), ...model.interfaces.map(interfaceText)];
  const separate = createSeparateTypeFile && types.length > 0;
  const tsOnly: TypeScriptOnly = skipTypes ? () => '' : (text) => text;
  const module = [
    ...imports(model, options, separate ? typesPath : null),
    ...(separate ? [] : types),
    ...runtime(model, options, tsOnly),
    ...model.functions.map((fn) => functionText(fn, options, tsOnly)),
    ...omittedLines(model),
  ];
  // Without an import or export, the file would be a script, not a module.
  const sections = module.length === 0 ? ['export {};'] : module;
  return [
    toFile(toModuleName(path, options), sections, options, now),
    ...(separate ? [toFile(typesPath, types, options, now)] : []),
  ];
}

function toFile(
  path: string,
  sections: readonly string[],
  { headerLines }: TypescriptClientOptions,
  now: Date,
): GeneratedFile {
  const { lines, timestampLines } = fileHeader(headerLines, now);
  return { path, content: `${[...lines, sections.join('\n\n')].join('\n')}\n`, timestampLines };
}

function imports(model: ClientModel, options: TypescriptClientOptions, typesPath: string | null): readonly string[] {
  const { importBaseUrlFrom, importParseQueryFrom, customImports } = options;
  const lines = [
    ...customImports,
    ...(importBaseUrlFrom === null ? [] : [`import { baseUrl as _baseUrl } from ${stringLiteral(importBaseUrlFrom)};`]),
    ...(importParseQueryFrom === null
      ? []
      : [`import { parseQuery as _parseQuery } from ${stringLiteral(importParseQueryFrom)};`]),
  ];
  const blocks = lines.length === 0 ? [] : [lines.join('\n')];
  if (typesPath === null) return blocks;
  const from = stringLiteral(`./${typesPath.split(/[/\\]/).at(-1)!}`);
  const names = [...commonInterfaceNames(model), ...model.interfaces.map(({ name }) => name)];
  return [
    ...blocks,
    `import type {\n${names.map((name) => `  ${name},\n`).join('')}} from ${from};\nexport type * from ${from};`,
  ];
}

function interfaceText({ name, fields }: Interface): string {
  const members = fields.map((field) => `  ${memberText(field)};\n`);
  return `export interface ${name} {\n${members.join('')}}`;
}

/** Names the endpoints without a function. */
function omittedLines({ omitted }: ClientModel): readonly string[] {
  return omitted.map(({ endpoint, reason }) =>
    escapeComment(escapeLine(`// No function for ${endpoint.method} ${endpoint.path} (${endpoint.id}): ${reason}.`)),
  );
}
