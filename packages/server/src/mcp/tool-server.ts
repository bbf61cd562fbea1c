/** The methods of the protocol that are about tools. */
import {
  type CallToolRequest,
  type CallToolResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Gateway, GatewayRequest } from '@pgway/core';
import { type McpTool, ToolArgumentError, toolRequest } from '@pgway/generators/internal';
import { deriveRequest } from '@pgway/core/internal';
import type { Configuration } from '../config/schema.ts';
import { errorResult, toResult } from './result.ts';

export interface ToolServerOptions {
  /** The name of the gateway. */
  readonly name: string;
  readonly settings: Configuration['mcp'];
  readonly version: string;
  /** Those that the caller may call, by name. */
  readonly tools: readonly McpTool[];
  readonly all: readonly McpTool[];
  readonly gateway: Pick<Gateway, 'handle'>;
  /** The request whose caller calls the tools. */
  readonly client: GatewayRequest;
}

/** Creates the server of one request. */
export function createToolServer(options: ToolServerOptions, onError: (error: Error) => void): Server {
  const { name, settings, version, tools, all } = options;
  const server = new Server(
    { name, version },
    {
      capabilities: { tools: {} },
      ...(settings.instructions === null ? {} : { instructions: settings.instructions }),
    },
  );
  server.setRequestHandler('tools/list', ({ params }) => listTools(tools, params?.cursor));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = all.find(({ name }) => name === params.name);
    if (tool === undefined) throw unknownTool(params.name);
    try {
      return await callTool(tool, params, context, options);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      onError(error as Error);
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'The call could not be answered');
    }
  });
  return server;
}

const maxQuotedLength = 100;

function unknownTool(name: string): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Unknown tool: ${JSON.stringify(name.slice(0, maxQuotedLength))}`,
  );
}

/** The maximum number of tools in one page of the list. */
const pageSize = 100;

/** Returns the page after the tool that the cursor names. A reload between two pages omits no tool. */
function listTools(tools: readonly McpTool[], cursor: string | undefined): ListToolsResult {
  const after = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString();
  if (cursor !== undefined && !/^[\w-]{1,64}$/.test(after)) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor must be that of an earlier page, unchanged');
  }
  const rest = tools.filter(({ name }) => name > after);
  const page = rest.slice(0, pageSize);
  const last = page.at(-1);
  return {
    tools: page.map(describeTool),
    ...(rest.length > page.length ? { nextCursor: Buffer.from(last!.name).toString('base64url') } : {}),
  };
}

function describeTool({
  name,
  title,
  description,
  inputSchema,
  output,
  hints,
}: McpTool): ListToolsResult['tools'][number] {
  return {
    name,
    title,
    description,
    inputSchema: inputSchema as ListToolsResult['tools'][number]['inputSchema'],
    ...(output === null ? {} : { outputSchema: output.schema as ListToolsResult['tools'][number]['inputSchema'] }),
    annotations: {
      title,
      readOnlyHint: hints.readOnly,
      destructiveHint: hints.destructive,
      idempotentHint: hints.idempotent,
      openWorldHint: hints.openWorld,
    },
  };
}

async function callTool(
  tool: McpTool,
  { name, arguments: values = {}, _meta }: CallToolRequest['params'],
  { mcpReq }: ServerContext,
  { gateway, client, settings }: ToolServerOptions,
): Promise<CallToolResult> {
  const token = _meta?.progressToken;
  const onEvent = token === undefined ? undefined : progressListener(token, mcpReq);
  try {
    const request = toolRequest(tool, values);
    const { signal } = mcpReq;
    const response = await gateway.handle(
      deriveRequest(client, { ...request, signal, ...(onEvent === undefined ? {} : { onEvent }) }),
    );
    if (response === undefined) throw unknownTool(name);
    return await toResult(tool, response, settings.maxResultSize);
  } catch (error) {
    if (error instanceof ToolArgumentError) return errorResult(error.message);
    throw error;
  }
}

/** Bounds the memory of a client that reads slowly: further messages of a call are dropped. */
const maxMessages = 1000;
const maxMessageLength = 1024;

function progressListener(progressToken: string | number, mcpReq: ServerContext['mcpReq']): (message: string) => void {
  let progress = 0;
  return (text) => {
    progress += 1;
    if (progress > maxMessages) return;
    const message = text.slice(0, maxMessageLength);
    // A client that has disconnected receives nothing.
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
      .catch(() => undefined);
  };
}
