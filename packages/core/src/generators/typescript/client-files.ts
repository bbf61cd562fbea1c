import type { Diagnostic } from '../../endpoints/diagnostic.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { type GeneratedFile, GeneratorError } from '../generated-file.ts';
import { pascalCase } from '../naming.ts';
import { withClientParameters } from '../client-endpoint.ts';
import { fileHeader, stringLiteral, escapeLine, quote } from '../source-text.ts';
import { escapeComment } from './comment-block.ts';
import { functionText } from './function-text.ts';
import { callableEndpoints, clientModel, type ClientModel, type Interface, includedEndpoints } from './client-model.ts';
import { clientCollisions } from './client-names.ts';
import { type TypescriptClientOptions, typescriptClientOptions } from './options.ts';
import { commonInterfaceTexts, commonInterfaceNames } from './common-interfaces.ts';
import { runtime, type TypeScriptOnly } from './runtime.ts';
import { memberText } from './type-text.ts';

/**
 * A typed client of the endpoints: one module, or one a schema, and the types beside it.
 * @param at the time that headers tell
 * @throws GeneratorError for an option that cannot be, and for two schemas that make one file
 */
export function typescriptClientFiles(
  endpoints: readonly Endpoint[],
  given: Partial<TypescriptClientOptions>,
  at: Date,
): readonly GeneratedFile[] {
  const options = typescriptClientOptions(given);
  const { filePath } = options;
  if (filePath === null) return [];
  const paths = new Map<string, string>();
  return splitModules(endpoints, options).flatMap(({ schema, endpoints: own }) => {
    if (schema === null) return moduleFiles(own, filePath.replaceAll('{0}', ''), options, at);
    const path = filePath.replaceAll('{0}', pascalCase(schema));
    const other = paths.get(path);
    if (other !== undefined) {
      throw new GeneratorError(
        `typescriptClient: the schemas ${quote(other)} and ${quote(schema)} make one file, ${path}; skip one of them`,
      );
    }
    paths.set(path, schema);
    return moduleFiles(own, path, options, at);
  });
}

/** A warning for each function, URL and event source whose name has a number because another one has the name. */
export function typescriptClientDiagnostics(
  endpoints: readonly Endpoint[],
  given: Partial<TypescriptClientOptions>,
): readonly Diagnostic[] {
  const options = typescriptClientOptions(given);
  return splitModules(endpoints, options).flatMap(({ endpoints: own }) =>
    clientCollisions(callableEndpoints(includedEndpoints(own, options)), options),
  );
}

/** The endpoints of each module; the schema is null where one module has them all. */
function splitModules(
  endpoints: readonly Endpoint[],
  { bySchema }: TypescriptClientOptions,
): readonly { readonly schema: string | null; readonly endpoints: readonly Endpoint[] }[] {
  const seen = withClientParameters(endpoints);
  if (!bySchema) return [{ schema: null, endpoints: seen }];
  const schemas = [...new Set(seen.map(({ schema }) => schema))].toSorted();
  return schemas.map((schema) => ({ schema, endpoints: seen.filter((endpoint) => endpoint.schema === schema) }));
}

function moduleFiles(
  endpoints: readonly Endpoint[],
  path: string,
  options: TypescriptClientOptions,
  at: Date,
): readonly GeneratedFile[] {
  const model = clientModel(endpoints, options);
  if (options.bySchema && model.functions.length === 0) return [];
  const { skipTypes, createSeparateTypeFile } = options;
  const typesPath = path.replace(/(\.[cm]?ts)?$/, 'Types.d.ts');
  const types = skipTypes ? [] : [...commonInterfaceTexts(model, options), ...model.interfaces.map(interfaceText)];
  const apart = createSeparateTypeFile && types.length > 0;
  const typed: TypeScriptOnly = skipTypes ? () => '' : (text) => text;
  const module = [
    ...imports(model, options, apart ? typesPath : null),
    ...(apart ? [] : types),
    ...runtime(model, options, typed),
    ...model.functions.map((one) => functionText(one, options, typed)),
    ...omittedLines(model),
  ];
  // Without an import or export, it would be a script and no module.
  const sections = module.length === 0 ? ['export {};'] : module;
  const modulePath = skipTypes ? path.replace(/\.([cm]?)ts$/, '.$1js') : path;
  return [toFile(modulePath, sections, options, at), ...(apart ? [toFile(typesPath, types, options, at)] : [])];
}

function toFile(
  path: string,
  sections: readonly string[],
  { headerLines }: TypescriptClientOptions,
  at: Date,
): GeneratedFile {
  const { lines, timestampLines } = fileHeader(headerLines, at);
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

/** Nobody should look for a function in vain. */
function omittedLines({ omitted }: ClientModel): readonly string[] {
  return omitted.map(({ endpoint, reason }) =>
    escapeComment(escapeLine(`// No function for ${endpoint.method} ${endpoint.path} (${endpoint.id}): ${reason}.`)),
  );
}
