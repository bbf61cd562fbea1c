/** A message of JSON-RPC. The protocol library checks its form. */
export interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: {
    readonly name?: unknown;
    readonly requestId?: unknown;
    readonly _meta?: { readonly progressToken?: unknown } | null;
  } | null;
}

/** Whether the client takes events before the response. */
export function asksForProgress({ params }: Message): boolean {
  return params?._meta?.progressToken !== undefined;
}

/** Returns the message of a body, or the response to one that has none. */
export function parseMessage(body: Uint8Array): Message | Response {
  let message: unknown;
  try {
    message = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return errorResponse(-32_700, 'Parse error: the body is not valid JSON');
  }
  // Since revision 2025-06-18 of the protocol, a request has one message.
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return errorResponse(-32_600, 'Invalid Request: the body must be one JSON-RPC message');
  }
  return message;
}

function errorResponse(code: number, text: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message: text }, id: null }, { status: 400 });
}
