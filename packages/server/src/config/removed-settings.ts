/** Limits and names with one value in the server; programs have options for most of them. */
const constants = [
  'gateway.maxCacheableRows',
  'cookie.name',
  'bearer.name',
  'jwt.name',
  'dataProtection.keyLifetime',
  'idempotency.maxResponseSize',
  'cors.maxAge',
  'redisCache.timeout',
  'tenant.maxOpen',
  'tenant.queryInterval',
  'tenant.idleTimeout',
  'events.maxQueuedBytes',
  'events.replayEvents',
  'events.replaySeconds',
  'events.replayBytes',
  'redisCache.maxAge',
  'uploadOptions.defaultUploadHandlerOptions.excel.maxInflatedSize',
  'authentication.loginRateLimit.window',
  'authentication.hashRateLimit.window',
  'jwt.jwks.cacheMaxAge',
  'externalSignIn.lifetime',
];

/** Options of `uploadOptions.defaultUploadHandlerOptions` that only comments of endpoints set, in snake case. */
const ofComments = [
  'stopAfterFirstSuccess',
  'fileSystem.file',
  'fileSystem.createPath',
  'csv.checkFormat',
  'csv.hasFieldsEnclosedInQuotes',
  'csv.setWhiteSpaceToNull',
  'csv.rowCommand',
  'excel.sheetName',
  'excel.allSheets',
  'excel.timeFormat',
  'excel.dateFormat',
  'excel.datetimeFormat',
  'excel.rowIsJson',
  'excel.rowCommand',
];

const snakeCase = (path: string): string =>
  path.slice(path.lastIndexOf('.') + 1).replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Settings of earlier versions, by path, with what to do instead. Messages about unknown settings contain it. */
export const removedSettings: Readonly<Record<string, string>> = {
  'health.enabled': 'remove it, or set health.path to null to turn health checks off',
  'metrics.enabled': 'set metrics.path, such as /metrics, to serve metrics, or to null',
  'cors.enabled': 'list the origins in cors.origins, or remove cors to turn it off',
  'staticFiles.enabled': 'set staticFiles.root to the folder, such as public, or to null to serve no files',
  'staticFiles.precompressed': 'remove it; compressed files beside others are always sent to clients that accept them',
  'gateway.returnRowDetails': 'set gateway.returnGatewayExceptionMessage to withRow for it',
  'gateway.fieldErrorStatus': 'set gateway.fieldErrors to the status, such as 422',
  ...Object.fromEntries(constants.map((path) => [path, 'remove it; the server has one value for it'])),
  ...Object.fromEntries(
    ofComments.map((path) => [
      `uploadOptions.defaultUploadHandlerOptions.${path}`,
      `set ${snakeCase(path)} in the comments of upload endpoints`,
    ]),
  ),
};
