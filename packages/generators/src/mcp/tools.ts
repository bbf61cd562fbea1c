/** Endpoints as tools of the Model Context Protocol. */

import type { Diagnostic, Endpoint, ToolHint } from '@pgway/core';
import { display, groupBy, requestMethods } from '@pgway/core/internal';
import { withClientParameters } from '../client-endpoint.ts';
import type { JsonSchema } from '../openapi/schema.ts';
import { describedArguments, type DescribedTool, describedTool } from './described-tool.ts';
import { describedName, preferredName, titleOf, UniqueNames } from './names.ts';
import {
  inputSchema,
  type KeyArgument,
  keyArgument,
  type ToolArgument,
  toolArguments,
  type ToolOutput,
  toolOutput,
} from './schemas.ts';

/** The endpoints that are tools. */
export interface McpToolOptions {
  /** `marked`: those whose comment has `mcp`; `readOnly`: these, and all that only read. */
  readonly include: 'marked' | 'readOnly';
}

/** A tool: the endpoints with one method and path, which are overloads; or one endpoint that a dialect describes. */
export interface McpTool {
  /** Unique; letters, digits, `_` and `-`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Null: the result is text. */
  readonly output: ToolOutput | null;
  readonly hints: {
    readonly readOnly: boolean;
    readonly destructive: boolean;
    readonly idempotent: boolean;
    readonly openWorld: boolean;
  };
  /** Null: the tool has overloads. */
  readonly described: DescribedTool | null;
  /** With the parameters that clients can set, and their arguments. */
  readonly overloads: readonly {
    readonly endpoint: Endpoint;
    readonly arguments: readonly ToolArgument[];
    /** Null: the endpoint has no idempotency keys. */
    readonly key: KeyArgument | null;
  }[];
  /** As the gateway has them. */
  readonly endpoints: readonly Endpoint[];
}

/** Returns the tools in order of their names, and a diagnostic for each line of a comment that has no effect. */
export function mcpTools(
  endpoints: readonly Endpoint[],
  options: McpToolOptions,
): { readonly tools: readonly McpTool[]; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const groups = groupOverloads(endpoints).filter((overloads) => isTool(overloads, options, diagnostics));
  const names = nameTools(groups, diagnostics);
  const tools = groups.map((overloads, index) => createTool(overloads, names[index]!));
  return { tools: tools.toSorted(byName), diagnostics };
}

function byName({ name: left }: McpTool, { name: right }: McpTool): number {
  return left < right ? -1 : 1;
}

/** Returns the overloads of each method and path, in an order that does not depend on that of the catalog. */
function groupOverloads(endpoints: readonly Endpoint[]): readonly (readonly Endpoint[])[] {
  const sorted = endpoints.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  return [...groupBy(sorted, groupKey).values()];
}

/** Tables of several schemas may share a path: requests of tools name the schema. */
function groupKey({ method, path, dialect, id }: Endpoint): string {
  return dialect === undefined ? `${method} ${path}` : id;
}

/** A request selects among all overloads of its path, so that a tool has all of them, or there is none. */
function isTool(overloads: readonly Endpoint[], { include }: McpToolOptions, diagnostics: Diagnostic[]): boolean {
  const isWanted = (endpoint: Endpoint): boolean =>
    endpoint.mcp?.included ?? (include === 'readOnly' && unsuitable(endpoint) === null && onlyReads(endpoint));
  if (!overloads.some(isWanted)) return false;
  const obstacles = overloads.map((endpoint) => ({
    endpoint,
    reason:
      unsuitable(endpoint) ??
      (isWanted(endpoint) ? null : 'it shares method and path with a tool; add mcp to its comment too'),
  }));
  const isMarked = overloads.some(({ mcp }) => mcp?.included === true);
  for (const { endpoint, reason } of obstacles) {
    if (reason !== null && isMarked)
      diagnostics.push(warning(endpoint, 'no-tool', `the endpoint is not an MCP tool: ${reason}`));
  }
  return obstacles.every(({ reason }) => reason === null);
}

const methods: ReadonlySet<string> = new Set(requestMethods.filter((method) => method !== 'HEAD'));

/** Returns why an endpoint cannot be a tool; null when it can. */
function unsuitable(endpoint: Endpoint): string | null {
  const { method, loginOrLogout, basicAuthentication, upload, dialect, result } = endpoint;
  if (dialect !== undefined && describedTool(endpoint) === null) {
    return `the dialect "${dialect}" describes no tool for it`;
  }
  if (loginOrLogout !== null) return `a ${loginOrLogout.kind} is for people`;
  if (basicAuthentication !== null) return 'it has credentials of its own, which MCP clients cannot send';
  if (upload !== null) return 'it takes files, which MCP clients cannot send';
  if (result.kind === 'value' && result.media === 'bytes') return 'it returns bytes; return text or JSON';
  return methods.has(method) ? null : `the method ${method} has no result`;
}

function warning({ id }: Endpoint, code: string, message: string): Diagnostic {
  return { severity: 'warning', code, routine: id, line: null, message };
}

/** Names from comments come first: a number is for the others. */
function nameTools(groups: readonly (readonly Endpoint[])[], diagnostics: Diagnostic[]): readonly string[] {
  const unique = new UniqueNames();
  const given = groups.map((overloads) => overloads.find(({ mcp }) => mcp !== undefined && mcp.name !== null));
  const names = new Map<number, string>();
  const assign = (index: number, preferred: string): void => {
    const [first] = groups[index]!;
    const name = unique.take(preferred);
    names.set(index, name);
    if (name === preferred) return;
    const message = `the MCP tool is called ${name}: another one has the name ${display(preferred)}; choose one with mcp_name`;
    diagnostics.push(warning(first!, 'name-collision', message));
  };
  given.forEach((endpoint, index) => {
    if (endpoint !== undefined) assign(index, endpoint.mcp!.name!);
  });
  groups.forEach(([first], index) => {
    if (names.has(index)) return;
    const described = describedTool(first!);
    assign(index, described === null ? preferredName(first!) : describedName(described.action, described.endpoint));
  });
  return groups.map((_, index) => names.get(index)!);
}

function createTool(endpoints: readonly Endpoint[], name: string): McpTool {
  const described = describedTool(endpoints[0]!);
  return {
    name,
    title: endpoints.map(({ mcp }) => mcp?.title ?? null).find((title) => title !== null) ?? titleOf(name),
    hints: {
      readOnly: endpoints.every(onlyReads),
      destructive: endpoints.some(isDestructive),
      idempotent: endpoints.every(isIdempotent),
      openWorld: endpoints.some((endpoint) => has(endpoint, 'open_world')),
    },
    described,
    ...(described === null ? describeOverloads(endpoints) : describeTool(described)),
    endpoints,
  };
}

type Described = Pick<McpTool, 'description' | 'inputSchema' | 'output' | 'overloads'>;

function describeTool(tool: DescribedTool): Described {
  const { description, output } = tool;
  return { description, inputSchema: inputSchema([describedArguments(tool)]), output, overloads: [] };
}

function describeOverloads(endpoints: readonly Endpoint[]): Described {
  const overloads = withClientParameters(endpoints).map((endpoint) => {
    const list = toolArguments(endpoint);
    return { endpoint, arguments: list, key: keyArgument(endpoint, list) };
  });
  const outputs = endpoints.map(toolOutput);
  const isSameOutput = new Set(outputs.map((output) => JSON.stringify(output))).size === 1;
  const descriptions = [...new Set(endpoints.map(({ description }) => description.trim()))].filter(Boolean);
  return {
    description:
      descriptions.length === 0 ? `Calls ${endpoints.map(({ id }) => id).join(' or ')}.` : descriptions.join('\n\n'),
    inputSchema: inputSchema(overloads.map(({ arguments: list, key }) => (key === null ? list : [...list, key]))),
    output: isSameOutput ? outputs[0]! : null,
    overloads,
  };
}

function has({ mcp }: Endpoint, ...names: readonly ToolHint[]): boolean {
  return mcp?.hints?.some((hint) => names.includes(hint)) === true;
}

function onlyReads(endpoint: Endpoint): boolean {
  return has(endpoint, 'read_only') || (reads(endpoint) && !has(endpoint, 'destructive', 'additive'));
}

function reads({ table, volatility }: Endpoint): boolean {
  return table === null ? volatility !== 'volatile' : table.operation === 'select';
}

/** A plain insert adds rows and changes none. */
function isPlainInsert({ table }: Endpoint): boolean {
  return /^insert(?:Returning)?$/.test(table?.operation ?? '');
}

function isDestructive(endpoint: Endpoint): boolean {
  if (has(endpoint, 'destructive')) return true;
  if (onlyReads(endpoint) || has(endpoint, 'additive')) return false;
  return !isPlainInsert(endpoint);
}

function isIdempotent(endpoint: Endpoint): boolean {
  if (has(endpoint, 'idempotent') || onlyReads(endpoint)) return true;
  // With an optional key, a call without one runs again.
  if (endpoint.idempotency === 'required') return true;
  // A plain insert is a PUT, and a repetition adds the row again.
  return (endpoint.method === 'PUT' || endpoint.method === 'DELETE') && !isPlainInsert(endpoint);
}
