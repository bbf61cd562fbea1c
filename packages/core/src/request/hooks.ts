import type { Value } from '../postgres/port.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import { bodilessStatuses, type GatewayResponse } from '../http/response.ts';
import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';
import { framingHeaderNames } from '../endpoints/comment/header-names.ts';
import type { ExecutableCall } from './build-query.ts';
import { checkHeader } from '../response/response-headers.ts';

/** An answer of the host's own. */
export interface HookResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | null;
}

type Perhaps<Product> = Product | undefined | void;
type Eventually<Product> = Product | Promise<Product>;

export interface ParameterHookContext {
  readonly endpoint: Endpoint;
  readonly parameter: EndpointParameter;
  /** As PostgreSQL will get it: text, or null. */
  readonly value: Value;
  readonly request: GatewayRequest;
}

export interface CommandHookContext {
  readonly endpoint: Endpoint;
  readonly request: GatewayRequest;
  /** The statement that is about to run; `$1` is the first of the values. */
  readonly sql: string;
  /** Those that were given. */
  readonly parameters: readonly EndpointParameter[];
  readonly values: readonly Value[];
}

/** What a host may say about a call before it runs. An answer ends the request; nothing lets it go on. */
export interface Hooks {
  /** For each parameter of the call, those that the gateway fills among them. */
  readonly validateParameters: ((parameter: ParameterHookContext) => Eventually<Perhaps<HookResponse>>) | null;
  /** After the command is made and before it runs. */
  readonly commandCallback: ((command: CommandHookContext) => Eventually<Perhaps<HookResponse>>) | null;
}

/** Asks the host. Null: the call goes on. What a hook throws is a failure of the request. */
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
      // In order: the first objection is the answer.
      // oxlint-disable-next-line no-await-in-loop
      const objection = await validateParameters({ endpoint, parameter, value: values[index]!, request });
      if (objection) return toResponse(objection);
    }
  }
  if (commandCallback === null) return null;
  const { sql } = call.statement;
  const answer = await commandCallback({ endpoint, request, sql, parameters, values: call.arguments });
  return answer ? toResponse(answer) : null;
}

/**
 * The gateway frames the answer: a length of the host's beside ours would make two of them, and some statuses have no body.
 * @throws Problem for an answer that cannot be sent: a hook may have put a client's own words into it
 */
function toResponse({ status, headers = {}, body = null }: HookResponse): GatewayResponse {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new Problem('internal', { detail: `A hook has answered with the status ${status}.` });
  }
  if (body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new Problem('internal', { detail: 'A hook has answered with a body that is neither text nor bytes.' });
  }
  const list = Object.entries(headers)
    .filter(([name]) => !framingHeaderNames.has(name.toLowerCase()))
    .flatMap(([name, value]) => [name.toLowerCase(), checkHeader(name, value)]);
  return { kind: 'whole', status, headers: list, body: bodilessStatuses.has(status) ? null : body };
}
