/** Serves the Model Context Protocol: endpoints are tools that language models can call. */
import type { Gateway } from '@pgway/core';
import type { Configuration } from '../config/schema.ts';
import { sendFailure } from '../http/http-server.ts';
import { type DocumentHandler, type PathDocumentHandler, requestPath } from '../http/send-document.ts';
import type { RequestErrorListener } from '../http/static-files.ts';
import type { McpServer } from './mcp-server.ts';
import { metadataPaths } from './protected-resource.ts';

/** Null: MCP is not configured. The protocol is loaded for the first request. */
export function createMcpHandler(
  configuration: Configuration,
  gateway: Gateway,
  onError: RequestErrorListener,
): PathDocumentHandler | null {
  if (configuration.mcp.path === null) return null;
  let opening: Promise<McpServer> | null = null;
  const open = (): Promise<McpServer> =>
    (opening ??= import('./mcp-server.ts').then(({ openMcpServer }) => openMcpServer(configuration, gateway, onError)));
  const isAt = (path: string): boolean => isMcpPath(path, configuration);
  const serve: DocumentHandler = (_, request, response) => {
    if (!isAt(requestPath(request))) return false;
    open()
      .then((server) => server.handle(request, response))
      .catch((error: Error) => {
        onError(error, request);
        if (response.headersSent) response.destroy();
        else sendFailure(response);
      });
    return true;
  };
  return Object.assign(serve, { isAt });
}

/** Whether a path is that of MCP, or of the metadata for its clients. */
export function isMcpPath(path: string, { mcp }: Configuration): boolean {
  return mcp.path !== null && (path === mcp.path || metadataPaths(mcp).includes(path));
}
