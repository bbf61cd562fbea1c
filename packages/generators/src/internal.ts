/** What the server uses of this package. They are released together: these names change without a major version. */
export { withClientParameters } from './client-endpoint.ts';
export { httpDocuments } from './http-file/http-files.ts';
export { httpFileOptions } from './http-file/options.ts';
export { ToolArgumentError, type ToolRequest, toolRequest } from './mcp/request.ts';
export type { ResultMember, ToolArgument, ToolOutput } from './mcp/schemas.ts';
export { type McpTool, type McpToolOptions, mcpTools } from './mcp/tools.ts';
export { type OpenApiOperation, openApiOperations } from './openapi/document.ts';
export { openApiOptions } from './openapi/options.ts';
export type { JsonSchema } from './openapi/schema.ts';
export { typescriptClientOptions } from './typescript/options.ts';
export { type ClientCall, clientCalls } from './typescript/client-calls.ts';
