import type { Endpoint } from '@pgway/core';
import type { ClientModel } from './client-model.ts';
import type { TypeScriptOnly } from './type-text.ts';

/** Whether a successful response has the position of a write. */
export function isWrite({ volatility }: Endpoint): boolean {
  return volatility === 'volatile';
}

/** Whether a module has reads that can include its own writes. */
export function hasReadsAndWrites({ functions }: ClientModel): boolean {
  const writes = functions.filter(({ endpoint }) => isWrite(endpoint)).length;
  return writes > 0 && writes < functions.length;
}

/** Returns the members of `headers` that make reads include the writes before them. */
export function consistencyHeaders(endpoint: Endpoint): string {
  return isWrite(endpoint) ? '"Consistency": "session"' : '..._consistency()';
}

/** Returns the helpers that remember the position of writes, and pass it on with reads. */
export function consistencyText(tsOnly: TypeScriptOnly): string {
  return `/** The position of the last write. Null: there was none; empty: it is unknown. */
let _position${tsOnly(': string | null')} = null;

/** Remembers the position of a write. */
async function _write(call${tsOnly(': Promise<Response>')})${tsOnly(': Promise<Response>')} {
  let response${tsOnly(': Response | null')} = null;
  try {
    response = await call;
    return response;
  } finally {
    const token = response?.headers.get("Consistency-Token") ?? "";
    // A refused write has changed nothing. Responses may arrive in another order: later positions are greater.
    const isRefused = token === "" && response !== null && response.status >= 400 && response.status < 500;
    if (!isRefused && (_position === null || token === "" || token > _position)) _position = token;
  }
}

/** The headers with which a read includes the writes before it. */
function _consistency()${tsOnly(': Record<string, string>')} {
  if (_position === null) return {};
  return _position === "" ? { "Consistency": "strong" } : { "Consistency-Token": _position };
}`;
}
