/** The sections of the generators. Options that a generator takes itself have its names and defaults. */
import { defaultsOf } from '@pgway/core/internal';
import { httpFileOptions, openApiOptions, typescriptClientOptions } from '@pgway/generators/internal';
import { z } from 'zod';
import { flag, optionalText, type OptionalText, secret, servedPath, text, textList, textMap } from './fields.ts';

const client = defaultsOf(typescriptClientOptions);
const http = defaultsOf(httpFileOptions);
const api = defaultsOf(openApiOptions);

const commentHeader = z.enum(['none', 'simple', 'full']);
const path = (description: string): OptionalText => servedPath.nullable().default(null).describe(description);

export const typescriptClientSection = z
  .strictObject({
    filePath: optionalText(
      'The file that `pgway generate` writes; with `bySchema`, `{0}` is replaced by the schema. Null: no client.',
    ),
    fileOverwrite: flag(client.fileOverwrite, 'Overwrites an existing file with other content.'),
    includeHost: flag(client.includeHost, 'URLs begin with the address that the server listens on.'),
    customHost: optionalText('The start of all URLs, as in `https://api.example.org`.'),
    commentHeader: commentHeader
      .default('simple')
      .describe(
        'The comment of each function: none, the signature with parameters and result, or the whole definition of the routine.',
      ),
    commentHeaderIncludeComments: flag(
      client.commentHeaderIncludeComments,
      'Includes the text of the routine comment in the comment of the function.',
    ),
    includeStatusCode: flag(
      client.includeStatusCode,
      'Functions return the status, and problems instead of throwing exceptions.',
    ),
    bySchema: flag(client.bySchema, 'Writes one file per schema.'),
    createSeparateTypeFile: flag(client.createSeparateTypeFile, 'Writes types to a separate file, `<name>Types.d.ts`.'),
    headerLines: textList(client.headerLines, 'Lines at the top of each file; `{0}` is replaced by the time.'),
    importBaseUrlFrom: optionalText('The module that exports `baseUrl`; null: a constant in the file.'),
    importParseQueryFrom: optionalText('The module that exports `parseQuery`; null: a function in the file.'),
    includeParseUrlParam: flag(
      client.includeParseUrlParam,
      'Functions take a callback `parseUrl` that can change the URL.',
    ),
    includeParseRequestParam: flag(
      client.includeParseRequestParam,
      'Functions take a callback `parseRequest` that can change the arguments of `fetch`.',
    ),
    skipRoutineNames: textList(client.skipRoutineNames, 'Routines to leave out of the client, by name without schema.'),
    skipFunctionNames: textList(client.skipFunctionNames, 'Functions to leave out of the client, by name.'),
    skipPaths: textList(client.skipPaths, 'Endpoints to leave out of the client, by path.'),
    skipSchemas: textList(client.skipSchemas, 'Schemas whose routines are left out of the client.'),
    defaultJsonType: text(client.defaultJsonType, 'The TypeScript type of json and jsonb, such as `unknown` or `any`.'),
    useRoutineNameInsteadOfEndpoint: flag(
      client.useRoutineNameInsteadOfEndpoint,
      'Functions are named after routines instead of paths.',
    ),
    exportUrls: flag(client.exportUrls, 'Exports a `<name>Url` for each function.'),
    skipTypes: flag(client.skipTypes, 'Writes plain JavaScript; `filePath` then ends with `.js`.'),
    uniqueModels: flag(client.uniqueModels, 'Merges interfaces with the same members.'),
    exportEventSources: flag(
      client.exportEventSources,
      'Exports functions that open the event streams of endpoints. Their result has the members of `EventSource`, and sends `customHeaders`.',
    ),
    customImports: textList(
      client.customImports,
      'Import statements to add, for example for `customHeaders` and `defaultJsonType`.',
    ),
    customHeaders: secret(
      textMap('Headers of every request, by name; each value is a JavaScript expression such as `"1"` or `token()`.'),
    ),
    xsrfTokenHeaderName: optionalText(
      'The header that carries the `xsrfToken` of a call, for methods that change data.',
    ),
    parseBigints: flag(
      client.parseBigints,
      'Values of the type `bigint` that JSON has as strings (`largeNumbers`) are `bigint` in the client, not `string`.',
    ),
    readOwnWrites: flag(
      false,
      'Reads include the earlier writes of the module, on read replicas too. Not with `bySchema`.',
    ),
    batchPath: optionalText(
      'The path of batches (`gateway.batchPath`), for the functions `batch` and `reference`; null: without them. Not with `readOwnWrites`.',
    ),
  })
  .prefault({})
  .describe('The typed client that `pgway generate` writes.');

export const httpFileSection = z
  .strictObject({
    option: z
      .enum(['file', 'endpoint', 'both'])
      .default(http.option)
      .describe('`file`: `pgway generate` writes them. `endpoint`: the server serves them at `path`. `both`: both.'),
    namePattern: text(
      http.namePattern,
      'The name of a file, without `.http`; `{0}` is replaced by the database, `{1}` by the schema.',
    ),
    folder: optionalText('The folder of the files. Null: no files are written.'),
    path: path(
      'The path where the server serves the file; with one file per schema, `<path>/<name>.http`. Null: not served.',
    ),
    fileMode: z.enum(['database', 'schema']).default(http.fileMode).describe('One file per database or per schema.'),
    fileOverwrite: flag(http.fileOverwrite, 'Overwrites an existing file with other content.'),
    commentHeader: commentHeader
      .default('simple')
      .describe(
        'The comment of each request: none, the signature with its parameters, or the whole definition of the routine.',
      ),
    commentHeaderIncludeComments: flag(
      http.commentHeaderIncludeComments,
      'Includes the text of the routine comment in the comment of the request.',
    ),
  })
  .prefault({})
  .describe('Request files (`.http`) for the REST clients of editors.');

export const openApiSection = z
  .strictObject({
    filePath: optionalText('The file that `pgway generate` writes. Null: no file is written.'),
    fileOverwrite: flag(api.fileOverwrite, 'Overwrites an existing file with other content.'),
    path: path('The path where the server serves the document, as in `/openapi.json`. Null: not served.'),
    docsPath: path('The path where the server serves the API docs as an HTML page, as in `/docs`. Null: not served.'),
    title: text(api.title, 'The title of the API.'),
    version: text(api.version, 'The version of the API.'),
    description: optionalText('The description of the API, in Markdown.'),
    license: optionalText('The licence of the API as an SPDX expression, as in `MIT`.'),
    servers: textList(api.servers, 'Base URLs of the API; empty: the host that served the document.'),
    securitySchemes: z
      .record(z.string(), z.record(z.string(), z.unknown()))
      .default({ ...(api.securitySchemes as Readonly<Record<string, Record<string, unknown>>>) })
      .describe('Security Scheme Objects by name, for endpoints that require an authenticated caller.'),
    useRoutineNameInsteadOfEndpoint: flag(
      api.useRoutineNameInsteadOfEndpoint,
      'Operations are named after routines instead of paths.',
    ),
  })
  .prefault({})
  .describe('The OpenAPI 3.1 document.');
