/** Typed clients, request files and OpenAPI documents from the endpoints of a gateway. */
export { type CommentHeader, type GeneratedFile, GeneratorError } from './generated-file.ts';
export { type EndpointCreateHandler, httpFile, openApi, typescriptClient } from './handlers.ts';
export { httpFiles } from './http-file/http-files.ts';
export type { HttpFileOptions } from './http-file/options.ts';
export type { NamingOptions } from './naming.ts';
export { openApiDiagnostics, openApiDocument, type OpenApiDocument, openApiFiles } from './openapi/document.ts';
export type { OpenApiOptions } from './openapi/options.ts';
export { typescriptClientDiagnostics, typescriptClientFiles } from './typescript/client-files.ts';
export type { TypescriptClientOptions } from './typescript/options.ts';
export {
  compareFiles,
  type FileComparison,
  type FileState,
  writeFiles,
  type WriteFilesOptions,
} from './write-files.ts';
