import type { Value } from '../postgres/port.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import { bodilessStatuses, type GatewayResponse } from '../http/response.ts';
import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';
import { framingHeaderNames } from '../endpoints/comment/header-names.ts';
import type { ExecutableCall } from './build-query.ts';
import { checkHeader } from '../response/response-headers.ts';

/** The response of a hook, which ends the request. */
export interface HookResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | null;
}

type HookResult = HookResponse | undefined | void | Promise<HookResponse | undefined | void>;

/** The argument of `validateParameters`. */
export interface ParameterHookContext {
  readonly endpoint: Endpoint;
  readonly parameter: EndpointParameter;
  /** The value in PostgreSQL's text format, or null. */
  readonly value: Value;
  readonly request: GatewayRequest;
}

/** The argument of `commandCallback`. */
export interface CommandHookContext {
  readonly endpoint: Endpoint;
  readonly request: GatewayRequest;
  /** The statement that is about to run; `$1` is the first of `values`. */
  readonly sql: string;
  /** The parameters that have values: from the client or from the gateway. */
  readonly parameters: readonly EndpointParameter[];
  readonly values: readonly Value[];
}

/** The host's callbacks before a call runs. A returned response ends the request; otherwise it continues. */
export interface Hooks {
  /** Called for each parameter of the call, injected ones included. */
  readonly validateParameters: ((context: ParameterHookContext) => HookResult) | null;
  /** Called once the statement is built. */
  readonly commandCallback: ((context: CommandHookContext) => HookResult) | null;
}

/** Runs the hooks in order. Null: the call continues. An error of a hook fails the request. */
export async function runHooks(
  hooks: Hooks,
  call: ExecutableCall,
  request: GatewayRequest,
): Promise<GatewayResponse | null> {
  const { validateParameters, commandCallback } = hooks;
  const { endpoint } = call.candidate;
  const { parameters, values } = call;
  if (validateParameters !== null) {
    for (const [index, parameter] of parameters.entries()) {
      // In order: the first response ends the request.
      // oxlint-disable-next-line no-await-in-loop
      const response = await validateParameters({ endpoint, parameter, value: values[index]!, request });
      if (response) return toGatewayResponse(response);
    }
  }
  if (commandCallback === null) return null;
  const { sql } = call.statement;
  const response = await commandCallback({ endpoint, request, sql, parameters, values: call.arguments });
  return response ? toGatewayResponse(response) : null;
}

/**
 * Drops framing headers, such as `content-length`, which the gateway sets itself.
 * @throws Problem for an invalid status, body or header: a hook may have copied text of the client into it
 */
function toGatewayResponse({ status, headers = {}, body = null }: HookResponse): GatewayResponse {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new Problem('internal', {
      detail: `A hook has returned the status ${status}; return an integer from 200 to 599.`,
    });
  }
  if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new Problem('internal', {
      detail: 'A hook has returned a body that is neither a string nor a Uint8Array.',
    });
  }
  const list = Object.entries(headers)
    .filter(([name]) => !framingHeaderNames.has(name.toLowerCase()))
    .flatMap(([name, value]) => [name.toLowerCase(), checkHeader(name, value)]);
  return { kind: 'whole', status, headers: list, body: bodilessStatuses.has(status) ? null : body };
}
