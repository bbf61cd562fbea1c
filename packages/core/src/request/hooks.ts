import type { TextTable, Value } from '../postgres/port.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import { bodilessStatuses, type GatewayResponse } from '../http/response.ts';
import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';
import { framingHeaderNames } from '../endpoints/comment/header-names.ts';
import type { CallContext } from '../auth/injected-values.ts';
import { checkHeader } from '../response/response-headers.ts';
import type { ExecutableCall } from './build-query.ts';
import { execute } from './execute.ts';
import type { ExecutionContext } from './execution.ts';
import { runHostStatement } from './host-statement.ts';
import { createNoticeHandler, type NoticeListener } from './notice-events.ts';
import { authorizeRepeated } from './idempotency/authorize-repeated.ts';
import { respond } from './respond.ts';
import { executeUpload, type UploadExecutionContext } from './upload/execute-upload.ts';

/** The response of a hook, which ends the request. */
export interface HookResponse {
  readonly status: number;
  /** A list is one header field for each of its values. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array | null;
}

/** The response that a command has given to its hook. */
export interface CommandResponse extends Required<HookResponse> {
  readonly body: Uint8Array | null;
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
  /**
   * Runs the command with the call's settings, role and connection, and returns the response of the endpoint. The gateway then does not run
   * it again: it sends what the hook returns, or this response when the hook returns nothing. A second call returns the same response.
   * @throws Problem 500 for a body of more than 64 MiB; Error for a login or logout; the errors of the command
   */
  readonly run: () => Promise<CommandResponse>;
  /**
   * Runs another statement with the call's settings, role and connection, in a transaction of its own. Returns the rows in PostgreSQL's
   * text format.
   */
  readonly query: (sql: string, values?: readonly Value[]) => Promise<TextTable>;
}

/** An error of `commandCallback` after which the call is not repeated: the callback may have changed data. */
export class CommandCallbackError extends Error {
  /** Whether a statement of the callback has failed, and not the call. */
  readonly isOfQuery: boolean;

  constructor(cause: unknown, isOfQuery: boolean) {
    super('commandCallback has failed', { cause });
    this.isOfQuery = isOfQuery;
  }
}

/** The host's callbacks before a call runs. A returned response ends the request; otherwise it continues. */
export interface Hooks {
  /** Called for each parameter of the call, injected ones included. */
  readonly validateParameters: ((context: ParameterHookContext) => HookResult) | null;
  /** Called once the statement is built. */
  readonly commandCallback: ((context: CommandHookContext) => HookResult) | null;
}

/** What the hooks have decided about a call. */
export interface HookOutcome {
  /** Null: the call continues. */
  readonly response: GatewayResponse | null;
  /** As in `ExecutionInput`. */
  readonly usesPrimary: boolean;
}

export const noHooks: HookOutcome = Object.freeze({ response: null, usesPrimary: false });

/** Runs the hooks in order. An error of a hook fails the request. */
export async function runHooks(
  hooks: Hooks,
  call: ExecutableCall,
  context: CallContext,
  execution: UploadExecutionContext,
): Promise<HookOutcome> {
  const { validateParameters, commandCallback } = hooks;
  const { endpoint } = call.candidate;
  const { request } = context;
  const { parameters, values } = call;
  if (validateParameters !== null) {
    for (const [index, parameter] of parameters.entries()) {
      // The metadata of an upload follows later.
      if (parameter.position === endpoint.upload?.metadataParameter) continue;
      // In order: the first response ends the request.
      const response = await validateParameters({ endpoint, parameter, value: values[index]!, request });
      if (response) return { response: toGatewayResponse(response), usesPrimary: false };
    }
  }
  return commandCallback === null ? noHooks : runCommandCallback(commandCallback, call, context, execution);
}

async function runCommandCallback(
  callback: NonNullable<Hooks['commandCallback']>,
  call: ExecutableCall,
  context: CallContext,
  execution: UploadExecutionContext,
): Promise<HookOutcome> {
  const { request } = context;
  const { endpoint } = call.candidate;
  let running: Promise<CommandResponse> | null = null;
  let mayRepeat = true;
  let usesPrimary = false;
  const statements = new HostStatements(execution, call, request);
  try {
    const response = await callback({
      endpoint,
      request,
      sql: call.statement.sql,
      parameters: call.parameters,
      values: call.arguments,
      run: () =>
        withHandledRejection(async () => {
          if (endpoint.loginOrLogout !== null) throw new Error('run() is not available for a login or logout');
          running ??= runCommand(execution, call, context);
          const commandResponse = await running;
          mayRepeat = false;
          return commandResponse;
        }),
      query: (sql, values = []) => {
        mayRepeat = false;
        usesPrimary = true;
        return withHandledRejection(() => statements.run(sql, values));
      },
    });
    if (response) return { response: toGatewayResponse(response), usesPrimary };
    const commandResponse = running === null ? null : await (running as Promise<CommandResponse>);
    return { response: commandResponse === null ? null : toGatewayResponse(commandResponse), usesPrimary };
  } catch (error) {
    throw mayRepeat ? error : new CommandCallbackError(error, statements.errors.has(error));
  }
}

/** A callback may not await the promise. Without a handler, an error that a client causes would end the process. */
function withHandledRejection<Product>(start: () => Promise<Product>): Promise<Product> {
  const promise = start();
  promise.catch(() => undefined);
  return promise;
}

/** The statements of a `commandCallback`. They are cancelled when the client disconnects. */
class HostStatements {
  readonly errors = new Set<unknown>();
  readonly #execution: ExecutionContext;
  readonly #call: ExecutableCall;
  readonly #request: GatewayRequest;
  /** Limits the notices of all statements of the call together. */
  readonly #onNotice: NoticeListener;
  readonly #cancels = new Set<() => void>();
  #isListening = false;
  #isDisconnected = false;

  constructor(execution: ExecutionContext, call: ExecutableCall, request: GatewayRequest) {
    this.#execution = execution;
    this.#call = call;
    this.#request = request;
    this.#onNotice = createNoticeHandler(execution, call.candidate.endpoint, null);
  }

  async run(sql: string, values: readonly Value[]): Promise<TextTable> {
    const ownCancels: (() => void)[] = [];
    const onCancellable = (cancel: () => void): void => {
      ownCancels.push(cancel);
      this.#cancels.add(cancel);
      this.#listen();
      if (this.#isDisconnected) cancel();
    };
    try {
      const input = { call: this.#call, request: this.#request, onCancellable, onNotice: this.#onNotice };
      return await runHostStatement(this.#execution, input, sql, values);
    } catch (error) {
      this.errors.add(error);
      throw error;
    } finally {
      for (const cancel of ownCancels) this.#cancels.delete(cancel);
    }
  }

  /** Adds one listener for all statements: Node warns of a leak at more than ten of a connection. */
  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#request.onDisconnect(() => {
      this.#isDisconnected = true;
      for (const cancel of this.#cancels) cancel();
    });
  }
}

/** Bytes of a response that a hook can get. */
const maxCommandBody = 64 * 1024 * 1024;

async function runCommand(
  execution: UploadExecutionContext,
  call: ExecutableCall,
  { request, caller }: CallContext,
): Promise<CommandResponse> {
  if (execution.authorizesRepeated) return authorizeRepeated(execution, call);
  const { format, writeHeaders } = call.candidate.selectRepresentation(request.header('accept'), call);
  const headers = writeHeaders(call);
  const holdLimit = { rows: Infinity, bytes: maxCommandBody };
  const input = { call, format, request, caller, holdLimit };
  const { upload } = call.candidate.endpoint;
  const result = await (upload === null ? execute(execution, input) : executeUpload(execution, input));
  const response = respond(request, { format, headers, result });
  if (response.kind === 'stream') {
    response.body.cancel();
    throw new Problem('internal', { detail: 'The response is larger than the 64 MiB that run() can return.' });
  }
  const { status, body } = response;
  return { status, headers: groupHeaders(response.headers), body: body === null ? null : Buffer.from(body) };
}

function groupHeaders(list: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const groups: Record<string, string[]> = {};
  for (let index = 0; index < list.length; index += 2) (groups[list[index]!] ??= []).push(list[index + 1]!);
  return groups;
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
    .flatMap(([name, value]) =>
      (typeof value === 'string' ? [value] : value).flatMap((item) => [name.toLowerCase(), checkHeader(name, item)]),
    );
  return { kind: 'whole', status, headers: list, body: bodilessStatuses.has(status) ? null : body };
}
