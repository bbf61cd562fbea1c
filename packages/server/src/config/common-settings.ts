/** The settings that most projects look at, by section, with keys such as `jwks.url`: `pgway init --all` writes them, and the reference and `--help` begin with them. */
export const commonSettings: Readonly<Record<string, readonly string[]>> = {
  '': ['connectionString', 'host', 'port', 'allowedHosts'],
  gateway: [
    'commentsMode',
    'includeSchemas',
    'excludeSchemas',
    'urlPathPrefix',
    'requiresAuthorization',
    'poolSize',
    'commandTimeout',
    'startRetry',
    'refreshOnNotify',
    'returnGatewayExceptionMessage',
    'maxBodySize',
  ],
  crud: ['enabled', 'includeSchemas', 'listing'],
  authentication: ['useUserContext', 'useUserParameters', 'trustedProxies', 'allowedOrigins'],
  cookie: ['enabled', 'lifetime'],
  bearer: ['enabled'],
  jwt: ['enabled', 'jwks.url', 'issuer', 'audience'],
  cors: ['origins'],
  dataProtection: ['folder', 'secret'],
  uploadOptions: ['maxFileSize'],
  log: ['level', 'format'],
  typescriptClient: ['filePath', 'fileOverwrite'],
  openApi: ['filePath', 'path', 'docsPath'],
};

/** The paths of these settings, such as `gateway.poolSize`. */
export const commonPaths: readonly string[] = Object.entries(commonSettings).flatMap(([path, names]) =>
  names.map((name) => (path === '' ? name : `${path}.${name}`)),
);
