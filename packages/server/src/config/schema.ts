/**
 * The configuration, described once: types, defaults, checks, the JSON Schema, `--help` and the reference come from here.
 * What the gateway takes itself has the gateway's own name, unit and default.
 */
import { z } from 'zod';
import { allowedHosts } from './allowed-hosts.ts';
import { cache } from './cache-settings.ts';
import { connections } from './connection-settings.ts';
import { crud } from './crud-settings.ts';
import { httpFile, openApi, typescriptClient } from './generator-settings.ts';
import { events } from './events-settings.ts';
import { limits } from './limit-settings.ts';
import { signIn } from './sign-in-settings.ts';

const names = (what: string): z.ZodDefault<z.ZodNullable<z.ZodArray<z.ZodString>>> =>
  z.array(z.string()).nullable().default(null).describe(what);
const pattern = (what: string): z.ZodDefault<z.ZodNullable<z.ZodString>> =>
  z.string().nullable().default(null).describe(what);

const methods = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PATCH', 'CONNECT'] as const;

const gateway = z
  .strictObject({
    commentsMode: z
      .enum(['ignore', 'parseAll', 'onlyWithHttpTag'])
      .default('onlyWithHttpTag')
      .describe(
        'Which routines become endpoints: only those whose comment has an `HTTP` line, all of them with their comments read (`parseAll`), or all of them with comments ignored (`ignore`).',
      ),
    includeSchemas: names('Publish routines of these schemas only.'),
    excludeSchemas: names('Publish no routine of these schemas.'),
    includeNames: names('Publish routines of these names only.'),
    excludeNames: names('Publish no routine of these names.'),
    schemaSimilarTo: pattern('Publish only routines whose schema is `SIMILAR TO` this pattern, for example `app_%`.'),
    schemaNotSimilarTo: pattern('Publish no routine whose schema is `SIMILAR TO` this pattern.'),
    nameSimilarTo: pattern('Publish only routines whose name is `SIMILAR TO` this pattern.'),
    nameNotSimilarTo: pattern('Publish no routine whose name is `SIMILAR TO` this pattern.'),
    urlPathPrefix: z
      .string()
      .nullable()
      .default('/api')
      .describe('Stands before every generated path; null or empty for none.'),
    defaultHttpMethod: z
      .enum(methods)
      .nullable()
      .default(null)
      .describe('Method of endpoints whose comment gives none; null derives it from the name and the volatility.'),
    defaultRequestParamType: z
      .enum(['queryString', 'bodyJson'])
      .nullable()
      .default(null)
      .describe('Where parameters come from when the comment does not say; null derives it from the method.'),
    requiresAuthorization: z
      .boolean()
      .default(false)
      .describe('Every endpoint needs a signed-in caller unless its comment says otherwise.'),
    unknownParameters: z
      .enum(['reject', 'ignore'])
      .default('reject')
      .describe('What a key does that is no parameter of the endpoint: refuse the request, or nothing.'),
    queryStringNullHandling: z
      .enum(['ignore', 'emptyString', 'nullLiteral'])
      .default('ignore')
      .describe('What is NULL in a query string: an empty value but for text, for text too, or also the word `null`.'),
    textResponseNullHandling: z
      .enum(['emptyString', 'nullLiteral', 'noContent'])
      .default('emptyString')
      .describe('How a NULL is answered where text is: an empty body, the word `NULL`, or status 204.'),
    bufferRows: z
      .int()
      .min(0)
      .max(1_000_000)
      .default(25)
      .describe('Rows per write of a JSON array; 0 writes every row on its own, 1 holds the whole answer.'),
    commandTimeout: z
      .number()
      .min(0)
      .max(86_400)
      .nullable()
      .default(null)
      .describe(
        'Seconds that a call may take in the database. Null: the `statement_timeout` of the database or role, and 30 where there is none; 0: that of the database, even if it is none.',
      ),
    ...connections,
    planCacheMode: z
      .enum(['force_generic_plan', 'auto'])
      .default('auto')
      .describe('How PostgreSQL plans prepared calls: by its own choice, or once for all values.'),
    errorFormat: z
      .enum(['problem', 'text'])
      .default('problem')
      .describe('How errors are answered: `application/problem+json` or plain text.'),
    returnGatewayExceptionMessage: z
      .boolean()
      .default(true)
      .describe(
        'Answers carry the message of the database and the signatures of overloads; otherwise a generic message with an id that is also in the log.',
      ),
    returnRowDetails: z
      .boolean()
      .default(false)
      .describe(
        'With `returnGatewayExceptionMessage`, answers carry all values of a row that a constraint refused (`Failing row contains …`), columns that the caller may not read among them.',
      ),
    postgreSqlErrorCodeToHttpStatusCodeMapping: z
      .record(
        z.string().regex(/^[0-9A-Z]{2}([0-9A-Z]{3})?$/, 'must be an SQLSTATE of five characters, or a class of two'),
        z.int().min(200).max(599),
      )
      .default({ '57014': 205, P0001: 400, P0004: 400 })
      .describe('SQLSTATE, or a class of two characters, to HTTP status; extends and overrides the built-in table.'),
    readerTimeout: z
      .number()
      .positive()
      .max(86_400)
      .default(30)
      .describe('Seconds that a client may take nothing of its answer before it is cut off.'),
    maxBodySize: z.int().min(0).max(1_073_741_824).default(1_048_576).describe('Most bytes of a request body.'),
    maxUriLength: z.int().min(64).max(1_048_576).default(8192).describe('Most characters of a path with its query.'),
    strict: z
      .boolean()
      .default(false)
      .describe('An error in any comment stops the start instead of its endpoint only.'),
    loggerName: z.string().nullable().default(null).describe('Stands in every log line as `name`; null: `Gateway`.'),
    logCommands: z.boolean().default(false).describe('Logs every command before it runs.'),
    logCommandParameters: z
      .boolean()
      .default(false)
      .describe('Logs the values of commands too, those of sensitive endpoints and of secrets masked.'),
    logConnectionNoticeEvents: z.boolean().default(true).describe('Logs the notices that routines raise.'),
    logConnectionNoticeEventsMode: z
      .enum(['messageOnly', 'firstStackFrameAndMessage', 'fullStackAndMessage'])
      .default('firstStackFrameAndMessage')
      .describe('How much of where a notice was raised is logged with it.'),
    logEndpointCreatedInfo: z.boolean().default(true).describe('Logs every endpoint when it is created.'),
    requestHeadersMode: z
      .enum(['ignore', 'context', 'parameter'])
      .default('ignore')
      .describe('Where the headers of requests go: nowhere, into a setting of the transaction, or into a parameter.'),
    requestHeadersContextKey: z
      .string()
      .default('request.headers')
      .describe('The setting that holds the headers in mode `context`.'),
    requestHeadersParameterName: z
      .string()
      .default('headers')
      .describe('The parameter that takes the headers in mode `parameter`: json or text, with a default.'),
    requestHeadersExclude: z.array(z.string()).default([]).describe('Headers that no routine is told of.'),
    customRequestHeaders: z
      .record(z.string(), z.union([z.string(), z.array(z.string())]))
      .default({})
      .describe(
        'Headers that routines are told of; each replaces the header of the same name in the request, and clients never see them.',
      ),
    compositeColumns: z
      .enum(['nested', 'flat'])
      .default('nested')
      .describe('Composite columns as nested objects, or their fields in the place of the column.'),
    nameConverter: z
      .enum(['camelCase', 'none'])
      .default('camelCase')
      .describe('The names of parameters and columns for clients: `customer_id` as `customerId`, or as they are.'),
    query: z.string().nullable().default(null).describe('Replaces the query that lists routines.'),
    refreshEndpointEnabled: z.boolean().default(false).describe('An endpoint that reads the catalog again.'),
    refreshMethod: z.enum(methods).default('POST').describe('The method of the refresh endpoint.'),
    refreshPath: z.string().default('/api/gateway/refresh').describe('The path of the refresh endpoint.'),
    refreshRoles: z
      .array(z.string())
      .nullable()
      .default(null)
      .describe(
        'Who may refresh: signed-in callers with one of these roles; an empty list: any of them; null: everybody.',
      ),
    logAnnotationSetInfo: z.boolean().default(true).describe('Logs every property that a comment sets.'),
  })
  .prefault({})
  .describe('What is published and how it answers.');

const embedded = z
  .strictObject({
    enabled: z
      .boolean()
      .nullable()
      .default(null)
      .describe('Runs a PostgreSQL of its own; null does so when no connection is configured.'),
    dataDirectory: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe(
        'Where its data live, from the working directory; null means `.pgway/postgres`, or a folder in `/var/lib/pgway` for root in a directory that is closed to other users.',
      ),
    example: z.boolean().default(true).describe('Creates the example database `library`, once, and publishes it.'),
  })
  .prefault({})
  .describe('A PostgreSQL of its own, for those who have none yet.');

const log = z
  .strictObject({
    level: z
      .enum(['debug', 'info', 'warn', 'error', 'silent'])
      .default('info')
      .describe('The least important kind of line that is still written.'),
    format: z
      .enum(['pretty', 'json'])
      .default('pretty')
      .describe('Lines for people, with the table of endpoints at the start, or one JSON object a line.'),
  })
  .prefault({})
  .describe('What is written to standard output.');

export const configurationSchema = z.strictObject({
  $schema: z.string().optional().describe('The JSON Schema of this file, for editors.'),
  connectionString: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'The database: `postgres://user:password@host:5432/name`, or `Host=…;Port=…;Database=…;Username=…;Password=…`. Without one, PostgreSQL is embedded.',
    ),
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('The address to listen on; `0.0.0.0` or `::` for every address of the machine.'),
  allowedHosts,
  port: z.int().min(0).max(65_535).default(8080).describe('The port to listen on; 0 takes any free one.'),
  gateway,
  crud,
  events,
  cache,
  ...signIn,
  embedded,
  log,
  limits,
  typescriptClient,
  httpFile,
  openApi,
});

export type Configuration = z.output<typeof configurationSchema>;

/** JSON Schema (draft 2020-12) of the configuration file. */
export function configurationJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(configurationSchema, { io: 'input' });
}
