/** Names and attributes of spans. They have no query strings, values or claims. */
import type { IncomingMessage } from 'node:http';
import type { Attributes } from '@opentelemetry/api';
import type { Endpoint } from '@pgway/core';
import type { RequestEntry } from '../log/request-log.ts';
import { knownMethods } from '../http/methods.ts';

export function requestName({ method, route }: RequestEntry): string {
  const name = knownMethods.has(method) ? method : 'HTTP';
  return route === null ? name : `${name} ${route}`;
}

export function requestAttributes(entry: RequestEntry, request: IncomingMessage): Attributes {
  const { method, path, route, status, bytes, address, routine, requestId } = entry;
  const isKnown = knownMethods.has(method);
  return defined({
    'http.request.method': isKnown ? method : '_OTHER',
    'http.request.method_original': isKnown ? null : method,
    'http.route': route,
    'http.response.status_code': status,
    'http.response.body.size': bytes,
    'url.path': path,
    'network.protocol.version': request.httpVersion,
    'client.address': address,
    'user_agent.original': request.headers['user-agent'] ?? null,
    'pgway.endpoint': routine,
    'pgway.request_id': requestId,
  });
}

function defined(attributes: Readonly<Record<string, string | number | null>>): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

/** Returns the SQLSTATE or name of an error, else the status; null: the request has not failed by the server. */
export function errorType({ status, isIncomplete }: RequestEntry, error: Error | null): string | null {
  if (isIncomplete) return 'incomplete_response';
  if (status < 500) return null;
  const { diagnostics } = (error ?? {}) as { readonly diagnostics?: { readonly code?: string } };
  return diagnostics?.code ?? (error === null ? String(status) : error.name);
}

const tableStatements: Readonly<Record<string, string>> = { select: 'SELECT', update: 'UPDATE', delete: 'DELETE' };

/** The command of the call: `SELECT`, `CALL`, `INSERT`, … */
function operationOf({ kind, table }: Endpoint): string {
  if (table === null) return kind === 'procedure' ? 'CALL' : 'SELECT';
  return tableStatements[table.operation] ?? 'INSERT';
}

export function callName(endpoint: Endpoint): string {
  return `${operationOf(endpoint)} ${endpoint.schema}.${endpoint.name}`;
}

/** @param endpoint null: unknown */
export function callAttributes(endpoint: Endpoint | null): Attributes {
  if (endpoint === null) return { 'db.system.name': 'postgresql' };
  const target = `${endpoint.schema}.${endpoint.name}`;
  return {
    'db.system.name': 'postgresql',
    'db.operation.name': operationOf(endpoint),
    [endpoint.table === null ? 'db.stored_procedure.name' : 'db.collection.name']: target,
    ...(endpoint.connection === null ? {} : { 'pgway.connection': endpoint.connection }),
  };
}
