/** The sections of the generators. What a generator takes itself has its own name and default. */
import { httpFileDefaults, openApiDefaults, typescriptClientDefaults } from '@pgway/core';
import { z } from 'zod';

const client = typescriptClientDefaults;
const http = httpFileDefaults;
const api = openApiDefaults;

type Flag = z.ZodDefault<z.ZodBoolean>;
type TextOrNull = z.ZodDefault<z.ZodNullable<z.ZodString>>;
type List = z.ZodDefault<z.ZodArray<z.ZodString>>;

const flag = (byDefault: boolean, what: string): Flag => z.boolean().default(byDefault).describe(what);
const textOrNull = (what: string): TextOrNull => z.string().min(1).nullable().default(null).describe(what);
const list = (byDefault: readonly string[], what: string): List =>
  z
    .array(z.string())
    .default([...byDefault])
    .describe(what);
const commentHeader = z.enum(['none', 'simple', 'full']);
const path = (what: string): TextOrNull =>
  z
    .string()
    .regex(/^\/[^\s?#]*$/, 'must be a path, as in /openapi.json')
    .nullable()
    .default(null)
    .describe(what);

export const typescriptClient = z
  .strictObject({
    filePath: textOrNull(
      'The file that `pgway generate` writes; with `bySchema`, `{0}` in it is the schema. Null: no client.',
    ),
    fileOverwrite: flag(client.fileOverwrite, 'Writes over a file that is another one.'),
    includeHost: flag(client.includeHost, 'URLs begin with the address that the server listens on.'),
    customHost: textOrNull('Stands before URLs, as in `https://api.example.org`.'),
    commentHeader: commentHeader
      .default('simple')
      .describe(
        'Above functions: nothing, the signature with parameters and result, or the whole definition of the routine.',
      ),
    commentHeaderIncludeComments: flag(client.commentHeaderIncludeComments, 'With the prose of the comment.'),
    includeStatusCode: flag(client.includeStatusCode, 'Results have the status, and problems instead of exceptions.'),
    bySchema: flag(client.bySchema, 'One file a schema.'),
    createSeparateTypeFile: flag(client.createSeparateTypeFile, 'Types in a file of their own, `<name>Types.d.ts`.'),
    headerLines: list(client.headerLines, 'At the top of each file; `{0}` is the time.'),
    importBaseUrlFrom: textOrNull('The module that exports `baseUrl`, instead of a constant.'),
    importParseQueryFrom: textOrNull('The module that exports `parseQuery`, instead of a function.'),
    includeParseUrlParam: flag(client.includeParseUrlParam, 'Functions take `parseUrl`, which may change the URL.'),
    includeParseRequestParam: flag(
      client.includeParseRequestParam,
      'Functions take `parseRequest`, which may change what is given to `fetch`.',
    ),
    skipRoutineNames: list(client.skipRoutineNames, 'No functions for routines of these names, without schema.'),
    skipFunctionNames: list(client.skipFunctionNames, 'No functions of these names.'),
    skipPaths: list(client.skipPaths, 'No functions for these paths.'),
    skipSchemas: list(client.skipSchemas, 'No functions for routines of these schemas.'),
    defaultJsonType: z
      .string()
      .min(1)
      .default(client.defaultJsonType)
      .describe('The TypeScript type of json and jsonb: `unknown` or `any` say what it is.'),
    useRoutineNameInsteadOfEndpoint: flag(
      client.useRoutineNameInsteadOfEndpoint,
      'Functions are named after routines instead of paths.',
    ),
    exportUrls: flag(client.exportUrls, 'Exports a `<name>Url` for each function.'),
    skipTypes: flag(client.skipTypes, 'Plain JavaScript, in a file that ends with `.js`.'),
    uniqueModels: flag(client.uniqueModels, 'Interfaces with the same members are one.'),
    exportEventSources: flag(client.exportEventSources, 'Exports the event sources of endpoints that stream notices.'),
    customImports: list(
      client.customImports,
      'Lines with imports of your own, for `customHeaders` and `defaultJsonType`.',
    ),
    customHeaders: z
      .record(z.string(), z.string())
      .default({})
      .describe('Headers of every request, by name; each an expression of JavaScript: `"1"`, `token()`.'),
    xsrfTokenHeaderName: textOrNull('The header for the `xsrfToken` of a call, on methods that change something.'),
  })
  .prefault({})
  .describe('The typed client that `pgway generate` writes.');

export const httpFile = z
  .strictObject({
    option: z
      .enum(['file', 'endpoint', 'both'])
      .default(http.option)
      .describe('Where requests go: into files that `pgway generate` writes, to the server at `path`, or both.'),
    namePattern: z
      .string()
      .min(1)
      .default(http.namePattern)
      .describe('The name of a file, without `.http`; `{0}` is the database, `{1}` the schema.'),
    folder: textOrNull('The folder of the files. Null: none are written.'),
    path: path('Where the server gives them, with one file a schema at `<path>/<name>.http`. Null: nowhere.'),
    fileMode: z.enum(['database', 'schema']).default(http.fileMode).describe('One file, or one a schema.'),
    fileOverwrite: flag(http.fileOverwrite, 'Writes over a file that is another one.'),
    commentHeader: commentHeader
      .default('simple')
      .describe('Above requests: nothing, the signature with its parameters, or the whole definition of the routine.'),
    commentHeaderIncludeComments: flag(http.commentHeaderIncludeComments, 'With the prose of the comment.'),
  })
  .prefault({})
  .describe('Requests to try, for the REST clients of editors.');

export const openApi = z
  .strictObject({
    filePath: textOrNull('The file that `pgway generate` writes. Null: none.'),
    fileOverwrite: flag(api.fileOverwrite, 'Writes over a file that is another one.'),
    path: path('Where the server gives the document, as in `/openapi.json`. Null: nowhere.'),
    docsPath: path('Where the server gives a page for people, as in `/docs`. Null: nowhere.'),
    title: z.string().min(1).default(api.title).describe('The title of the API.'),
    version: z.string().min(1).default(api.version).describe('The version of the API.'),
    description: textOrNull('What the API is for; Markdown.'),
    license: textOrNull('The licence of the API as an SPDX expression, as in `MIT`.'),
    servers: list(api.servers, 'URLs of the API; none: where the document comes from.'),
  })
  .prefault({})
  .describe('The API as an OpenAPI 3.1 document.');
