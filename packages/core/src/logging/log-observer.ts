import { type Logger, type Observation, type Observer, Problem } from '../ports/ports.ts';
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';

/** What of the gateway's observations becomes log lines. */
export interface LogOptions {
  /** Stands in every line as `name`; null: `Gateway`. */
  readonly loggerName: string | null;
  /** Every command before it runs. */
  readonly logCommands: boolean;
  /** With their values; those of sensitive endpoints and of secrets are masked. */
  readonly logCommandParameters: boolean;
  /** Notices that routines raise. Default true. */
  readonly logConnectionNoticeEvents: boolean;
  /** How much of where a notice was raised goes with it. Default `firstStackFrameAndMessage`. */
  readonly logConnectionNoticeEventsMode: 'messageOnly' | 'firstStackFrameAndMessage' | 'fullStackAndMessage';
  /** Every endpoint when it is created. Default true. */
  readonly logEndpointCreatedInfo: boolean;
}

export const logDefaults: LogOptions = Object.freeze({
  loggerName: null,
  logCommands: false,
  logCommandParameters: false,
  logConnectionNoticeEvents: true,
  logConnectionNoticeEventsMode: 'firstStackFrameAndMessage',
  logEndpointCreatedInfo: true,
});

type Level = keyof Logger;
type Of<Kind extends Observation['kind']> = Extract<Observation, { readonly kind: Kind }>;
type Fields = Readonly<Record<string, unknown>>;

/** Turns observations into log lines. No line holds a query string, a body, a cookie, a token or a value of a sensitive endpoint. */
export function logObserver(logger: Logger, options: LogOptions): Observer {
  const name = options.loggerName ?? 'Gateway';
  const line = (level: Level, fields: Fields, message: string): void => logger[level]({ name, ...fields }, message);
  return (observation) => {
    switch (observation.kind) {
      case 'endpoint-created':
        if (options.logEndpointCreatedInfo) line('info', endpointFields(observation), 'endpoint created');
        return;
      case 'diagnostic':
        return line(diagnosticLevel(observation.diagnostic), ...diagnosticLine(observation.diagnostic));
      case 'notice':
        if (options.logConnectionNoticeEvents) line(noticeLevel(observation), ...noticeLine(observation, options));
        return;
      case 'command':
        return line('info', commandFields(observation, options), 'command');
      case 'request-failed':
        return line(...failureLine(observation));
      case 'token-refused':
        return line('debug', refusalFields(observation), 'token refused');
      case 'endpoint-stale':
        return line('warn', staleFields(observation), 'the database has changed: the endpoints are read again');
      case 'setting-leaked':
        return line('warn', settingFields(observation), settingAdvice);
      default:
        return line(...stateLine(observation));
    }
  };
}

type State = Of<
  | 'start-warning'
  | 'connection-failed'
  | 'authentication-error'
  | 'refresh-failed'
  | 'cache-unavailable'
  | 'cache-available'
>;
type Stream = Of<
  'unknown-hint' | 'stream-dropped' | 'broadcast-unavailable' | 'broadcast-available' | 'broadcast-messages-rejected'
>;

/** How the gateway and what it needs are doing. */
function stateLine(observation: State | Stream): [Level, Fields, string] {
  switch (observation.kind) {
    case 'start-warning':
      return ['warn', { code: observation.code }, observation.message];
    case 'connection-failed':
      return ['warn', connectionFields(observation), observation.error.message];
    case 'authentication-error':
      return ['error', errorFields(observation.error), 'authentication'];
    case 'refresh-failed':
      return ['error', errorFields(observation.error), 'refresh failed'];
    case 'cache-unavailable':
      return ['warn', errorFields(observation.error), 'the cache is away; requests go on without it'];
    case 'cache-available':
      return ['info', {}, 'the cache is back'];
    default:
      return streamLine(observation);
  }
}

function streamLine(observation: Stream): [Level, Fields, string] {
  switch (observation.kind) {
    case 'unknown-hint':
      return ['warn', { routine: observation.endpoint.id, hint: observation.hint }, 'a hint says no scope'];
    case 'stream-dropped':
      return ['info', { path: observation.path }, 'a reader of the stream took too little and was cut off'];
    case 'broadcast-messages-rejected':
      return ['warn', { count: observation.count }, refusedAdvice];
    case 'broadcast-unavailable':
      return ['warn', { error: observation.error }, 'other instances cannot be reached'];
    case 'broadcast-available':
      return ['info', {}, 'other instances can be reached again'];
  }
}

const refusedAdvice =
  'messages on the broadcast channel could not be opened and were dropped: give all instances the same keys (dataProtection), and other gateways another broadcastChannel';

const settingAdvice =
  'a routine has left a setting of its session changed, and its connection was closed: use set local, or a SET clause';

function settingFields({ endpoint, setting }: Of<'setting-leaked'>): Fields {
  return { routine: endpoint.id, setting };
}

/** Nothing of the token, and no path, which may hold what nobody may read. */
function refusalFields({ request, scheme, reason }: Of<'token-refused'>): Fields {
  return { method: request.method, requestId: request.id, scheme, reason };
}

function staleFields({ endpoint, error }: Of<'endpoint-stale'>): Fields {
  return { routine: endpoint.id, ...errorFields(error) };
}

function connectionFields({ connection, error }: Of<'connection-failed'>): Fields {
  return { ...(connection === null ? {} : { connection }), ...sqlstateField(error) };
}

function errorFields(error: Error): Fields {
  return { error, ...sqlstateField(error) };
}

/** The SQLSTATE of what the database has said, on its own: logs in which an error is only its message have it too. */
function sqlstateField(error: Error): Fields {
  const code = [error, error.cause]
    .map(codeFrom)
    .find((found) => found !== null && /^(?=.*\d)[0-9A-Z]{5}$/.test(found));
  return code === undefined ? {} : { sqlstate: code };
}

function endpointFields({ endpoint }: Of<'endpoint-created'>): Fields {
  return { method: endpoint.method, path: endpoint.path, routine: endpoint.id };
}

/** What an annotation sets is logged as a warning: who reads the log should see what comments change. */
function diagnosticLevel({ severity }: Diagnostic): Level {
  return severity === 'error' ? 'error' : 'warn';
}

function diagnosticLine({ routine, line, code, message }: Diagnostic): [Fields, string] {
  return [{ routine, line, code }, message];
}

const noticeLevels: Readonly<Record<string, Level>> = { DEBUG: 'debug', WARNING: 'warn' };

function noticeLevel({ notice }: Of<'notice'>): Level {
  return noticeLevels[notice.severity.replace(/\d$/, '')] ?? 'info';
}

function noticeLine(
  { endpoint, notice }: Of<'notice'>,
  { logConnectionNoticeEventsMode }: LogOptions,
): [Fields, string] {
  const frames = notice.where?.split('\n') ?? [];
  const where = {
    messageOnly: [],
    firstStackFrameAndMessage: frames.slice(0, 1),
    fullStackAndMessage: frames,
  }[logConnectionNoticeEventsMode];
  const fields = { routine: endpoint.id, severity: notice.severity };
  return [where.length === 0 ? fields : { ...fields, where: where.join('\n') }, notice.message];
}

/** Names of parameters whose values are nobody's business, whatever the endpoint says. */
const secret = /pass|pwd|secret|token/i;

function commandFields({ endpoint, request, sql, parameters }: Of<'command'>, options: LogOptions): Fields {
  const fields = { ...requestFields(request, endpoint), routine: endpoint.id, sql };
  if (!options.logCommandParameters) return fields;
  const headers = headersParameter(endpoint);
  const shown = parameters.map(({ name, value }) => {
    const masked = endpoint.sensitive || name === headers || secret.test(name);
    return [name, masked ? '***' : value instanceof Uint8Array ? `${value.length} bytes` : value] as const;
  });
  return { ...fields, parameters: Object.fromEntries(shown) };
}

/** The name of the parameter that takes the request's headers, cookies and tokens among them; null: none does. */
function headersParameter({ requestHeaders, parameters }: Endpoint): string | null {
  if (requestHeaders.mode !== 'parameter') return null;
  return parameters.find(({ position }) => position === requestHeaders.position)?.name ?? null;
}

/** A refusal with a correlation id is the server's own trouble; the others are the client's, and frequent. */
function failureLine({
  request,
  endpoint,
  status,
  correlationId,
  error,
}: Of<'request-failed'>): [Level, Fields, string] {
  const fields = {
    ...requestFields(request, endpoint),
    status,
    ...(endpoint === null ? {} : { routine: endpoint.id }),
  };
  // What a problem says to its client may quote the request, and what the database says may quote a value.
  const quotes = endpoint?.sensitive === true || (error instanceof Problem && error.status < 500);
  if (status < 500 && correlationId === null) {
    const reason = quotes ? { reason: codeOf(error) } : { reason: error.message, ...sqlstateField(error) };
    return ['debug', { ...fields, ...reason }, 'request refused'];
  }
  const why = quotes ? { reason: codeOf(error) } : errorFields(error);
  return ['error', { ...fields, ...(correlationId === null ? {} : { correlationId }), ...why }, 'request failed'];
}

/** What an error is without its words: the code of a problem, a SQLSTATE; its class where it has neither. */
function codeOf(error: Error): string {
  return codeFrom(error) ?? codeFrom(error.cause) ?? error.name;
}

function codeFrom(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  if ('diagnostics' in error) return codeFrom(error.diagnostics);
  return 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** Whether a path of this endpoint holds what nobody may read. */
function hidesPath({ sensitive, parameters }: Endpoint): boolean {
  return sensitive || parameters.some(({ inPath, name }) => inPath && secret.test(name));
}

/** What a client sends as a trace may be of any length. */
const longestTraceparent = 128;

/** A request is found again by its id, or by the trace that it belongs to. */
function requestFields(request: Of<'command'>['request'], endpoint: Endpoint | null): Fields {
  const traceparent = request.header('traceparent')?.slice(0, longestTraceparent);
  return {
    method: request.method,
    path: endpoint !== null && hidesPath(endpoint) ? endpoint.path : request.path,
    requestId: request.id,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}
