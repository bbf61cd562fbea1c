/** Results of tools, from the responses of the gateway. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { GatewayResponse, HeaderList, StreamResponse } from '@pgway/core';
import type { McpTool, ToolOutput } from '@pgway/generators/internal';

/** The body of a response; null: it is larger than the limit, or did not reach its end. */
export type ReadBody = { readonly text: string | null } | { readonly fault: 'too-large' | 'incomplete' };

/**
 * Reads the body of a response.
 * @param limit bytes
 * @param isCancellable whether the rest of a larger body is cancelled; otherwise it is read to its end, so that its call completes
 */
export async function readBody(response: GatewayResponse, limit: number, isCancellable: boolean): Promise<ReadBody> {
  if (response.kind === 'stream') return readStream(response, limit, isCancellable);
  const { body, memory } = response;
  if (body === null) return { text: null };
  const bytes = Buffer.from(body);
  const result: ReadBody = bytes.length > limit ? { fault: 'too-large' } : { text: bytes.toString() };
  memory?.release();
  return result;
}

function readStream({ body }: StreamResponse, limit: number, isCancellable: boolean): Promise<ReadBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Uint8Array): void => {
      size += chunk.length;
      if (size <= limit) chunks.push(Buffer.from(chunk));
      else chunks.length = 0;
    };
    body.pipe({
      write: (chunk, memory) => {
        take(chunk);
        memory?.release();
        if (size > limit && isCancellable) {
          resolve({ fault: 'too-large' });
          body.cancel();
        }
        return true;
      },
      end: (chunk, memory) => {
        take(chunk);
        memory?.release();
        resolve(size > limit ? { fault: 'too-large' } : { text: Buffer.concat(chunks).toString() });
      },
      fail: () => resolve({ fault: 'incomplete' }),
    });
  });
}

/** Returns a result that says what went wrong, which a language model can read and correct. */
export function errorResult(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

/** Returns the result of a call, with at most `limit` bytes of the response. */
export async function toResult(tool: McpTool, response: GatewayResponse, limit: number): Promise<CallToolResult> {
  const body = await readBody(response, limit, tool.hints.readOnly);
  if ('fault' in body) return errorResult(faultText(body.fault, tool, limit));
  const { status, headers } = response;
  if (status >= 400) return errorResult(problemText(body.text ?? '', headers));
  return tool.output === null ? textResult(body.text) : structuredResult(tool.output, body.text);
}

function faultText(fault: 'too-large' | 'incomplete', { hints }: McpTool, limit: number): string {
  const executed = hints.readOnly ? '' : 'The call was executed, do not repeat it. ';
  if (fault === 'incomplete') {
    return `The result did not reach its end.${hints.readOnly ? '' : ' The call may have been executed.'}`;
  }
  return `${executed}The result is larger than ${limit} bytes${hints.readOnly ? '; ask for fewer rows' : ''}.`;
}

/** Adds when a refused call may be repeated, which is a header. */
function problemText(text: string, headers: HeaderList): string {
  const index = headers.findIndex((name, position) => position % 2 === 0 && name.toLowerCase() === 'retry-after');
  return index === -1 ? text : `${text}\nRetry after ${headers[index + 1]!} seconds.`;
}

function textResult(text: string | null): CallToolResult {
  return { content: [{ type: 'text', text: text ?? 'The call succeeded, and has no result.' }] };
}

function structuredResult({ member, format }: ToolOutput, text: string | null): CallToolResult {
  // The text keeps all digits of numbers.
  const value = text === null ? 'null' : toJson(text, format);
  const json = member === null ? value : `{${JSON.stringify(member)}:${value}}`;
  try {
    const structuredContent = JSON.parse(json) as Record<string, unknown> | null;
    if (structuredContent === null) return errorResult('The call succeeded, and has no result.');
    return { content: [{ type: 'text', text: json }], structuredContent };
  } catch {
    return errorResult(`The result is not JSON: ${text!}`);
  }
}

/** Returns the JSON of a value. A number that JSON cannot represent stays text. NULL is empty text, or the word, by `response_null`. */
function toJson(text: string, format: ToolOutput['format']): string {
  if (format === 'json') return text;
  if (format !== 'text' && /^(?:null)?$/i.test(text)) return 'null';
  if (format === 'number' && isExactNumber(text)) return text;
  if (format === 'boolean' && /^(?:t|f|true|false)$/.test(text)) return String(text.startsWith('t'));
  return JSON.stringify(text);
}

function isExactNumber(text: string): boolean {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return false;
  return text.replaceAll(/\D/g, '').length <= 15;
}
