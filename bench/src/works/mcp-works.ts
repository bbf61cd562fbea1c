import { parseBody, routineWorks } from './routine-works.ts';
import { jsonRequest, type Work } from './work.ts';

/** Calls of endpoints, and the same as calls of MCP tools. */
export const mcpWorks: readonly Work[] = routineWorks
  .filter(({ name }) => ['scalar', 'rows-10'].includes(name))
  .map((plain) => ({ ...plain, forms: { 'server-mcp': toolCall(plain) }, goal: null }));

function toolCall(plain: Work): Work {
  return {
    ...plain,
    request(number) {
      const { pathname, searchParams } = new URL(plain.request(number).path, 'http://localhost');
      const values = [...searchParams].map(([name, value]) => [name, Number(value)]);
      const params = { name: pathname.slice(1), arguments: Object.fromEntries(values) };
      const request = jsonRequest('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      return { ...request, headers: { ...request.headers, accept: 'application/json, text/event-stream' } };
    },
    verify({ status, body }, number) {
      // Status and error are those of the message as a whole.
      const message = parseBody({ status, body }) as ToolMessage;
      const content = message.result?.structuredContent;
      plain.verify({ status, body: Buffer.from(JSON.stringify(content?.rows ?? content?.value ?? message)) }, number);
    },
  };
}

interface ToolMessage {
  readonly result?: { readonly structuredContent?: { readonly rows?: unknown; readonly value?: unknown } };
}
