import { type Logger, type Observation, type Observer, Problem } from '../ports/ports.ts';
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { hidesPath, isSecretName } from '../endpoints/secret-names.ts';
import type { LogOptions } from './options.ts';

type Level = keyof Logger;
type ObservationWith<Kind extends Observation['kind']> = Extract<Observation, { readonly kind: Kind }>;
type Fields = Readonly<Record<string, unknown>>;

/** Creates an observer that logs. No line has a query string, a body, a cookie, a token or a value of a sensitive endpoint. */
export function logObserver(logger: Logger, options: LogOptions): Observer {
  const name = options.loggerName ?? 'Gateway';
  const log = (observation: Exclude<Observation, RequestObservation>): void => {
    if (!isWanted(observation, options)) return;
    const common = commonFields(name, observation);
    const line = (level: Level, fields: Fields, message: string): void =>
      logger[level]({ ...common, ...fields }, message);
    switch (observation.kind) {
      case 'endpoints-created':
      case 'endpoint-created':
        return line(...creationLine(observation));
      case 'diagnostic':
        return line(diagnosticLevel(observation.diagnostic), ...diagnosticLine(observation.diagnostic));
      case 'notice':
        return line(noticeLevel(observation), ...noticeLine(observation, options));
      case 'command':
        return line('info', commandFields(observation, options), 'command');
      case 'request-failed':
        return line(...failureLine(observation));
      case 'upload':
        return line('info', uploadFields(observation), 'upload');
      case 'token-refused':
        return line('debug', rejectionFields(observation), 'token refused');
      case 'endpoint-stale':
        return line('warn', staleFields(observation), 'the endpoint does not match the database any more; refreshing');
      case 'setting-leaked':
        return line('warn', settingFields(observation), settingAdvice);
      default:
        return line(...stateLine(observation));
    }
  };
  return (observation) => {
    if (!isRequest(observation)) log(observation);
  };
}

function commonFields(name: string, { tenant }: Observation): Fields {
  return tenant === undefined ? { name } : { name, tenant };
}

type RequestObservation = ObservationWith<'request-handled' | 'call-completed'>;

/** Requests that have succeeded have no line: they are for access logs and metrics of the host. */
function isRequest(observation: Observation): observation is RequestObservation {
  return observation.kind === 'request-handled' || observation.kind === 'call-completed';
}

type State = ObservationWith<
  | 'start-warning'
  | 'external-sign-in'
  | 'upload-cleanup-failed'
  | 'connection-failed'
  | 'authentication-error'
  | 'refresh-failed'
  | 'cache-unavailable'
  | 'cache-available'
  | 'rate-limits-unavailable'
  | 'rate-limits-available'
>;
type Upkeep = ObservationWith<'tenant-unavailable' | 'tenants-not-read' | 'idempotency-keys-not-pruned'>;
type Stream = ObservationWith<
  | 'call-repeated'
  | 'unknown-hint'
  | 'unknown-receivers'
  | 'stream-dropped'
  | 'broadcast-unavailable'
  | 'broadcast-available'
  | 'broadcast-messages-rejected'
>;

type Replica = ObservationWith<
  | 'replica-unusable'
  | 'replica-usable'
  | 'read-refused'
  | 'changes-available'
  | 'changes-unavailable'
  | 'realtime-failed'
>;

function stateLine(observation: State | Stream | Replica | Upkeep): [Level, Fields, string] {
  switch (observation.kind) {
    case 'start-warning':
      return ['warn', { code: observation.code }, observation.message];
    case 'external-sign-in':
      return externalSignInLine(observation);
    case 'upload-cleanup-failed':
      return [
        'error',
        { routine: observation.endpoint.id, ...errorFields(observation.error) },
        'files of an upload could not be removed',
      ];
    case 'connection-failed':
      return ['warn', connectionFields(observation), observation.error.message];
    case 'authentication-error':
      return ['error', errorFields(observation.error), 'authentication error'];
    case 'refresh-failed':
      return ['error', errorFields(observation.error), 'refresh failed'];
    case 'cache-unavailable':
      return ['warn', errorFields(observation.error), 'the cache is unavailable; requests continue without it'];
    case 'cache-available':
      return ['info', {}, 'the cache is available again'];
    case 'rate-limits-unavailable':
      return [
        'warn',
        errorFields(observation.error),
        `the store of rate limits is unavailable; requests are ${observation.requests === 'allowed' ? 'not limited' : 'refused'}`,
      ];
    case 'rate-limits-available':
      return ['info', {}, 'the store of rate limits is available again'];
    default:
      return streamLine(observation);
  }
}

function streamLine(observation: Stream | Replica | Upkeep): [Level, Fields, string] {
  switch (observation.kind) {
    case 'call-repeated':
      return [
        'info',
        { routine: observation.endpoint.id, code: observation.code, repetition: observation.repetition },
        'a call that PostgreSQL has rolled back runs again',
      ];
    case 'unknown-hint':
      return [
        'warn',
        { routine: observation.endpoint.id, hint: observation.hint },
        'the hint of an event names no scope; the scope of the endpoint applies',
      ];
    case 'unknown-receivers':
      return [
        'warn',
        { routine: observation.endpoint.id, scope: observation.scope },
        'the member info_scope of a notification is not a scope, so no subscriber receives it',
      ];
    case 'stream-dropped':
      return ['info', { path: observation.path }, 'a stream was closed because its client reads too slowly'];
    case 'broadcast-messages-rejected':
      return ['warn', { count: observation.count }, rejectedAdvice];
    case 'broadcast-unavailable':
      return ['warn', { error: observation.error }, 'other instances cannot be reached'];
    case 'broadcast-available':
      return ['info', {}, 'other instances can be reached again'];
    case 'tenant-unavailable':
      return [
        'warn',
        { ...errorFields(observation.error), retryMs: observation.retryMs },
        'the database of the tenant cannot be used; its requests get a 503',
      ];
    case 'idempotency-keys-not-pruned':
      return ['warn', errorFields(observation.error), 'expired idempotency keys could not be deleted'];
    case 'tenants-not-read':
      return ['warn', errorFields(observation.error), 'the list of tenants could not be read; the old one stays'];
    default:
      return replicaLine(observation);
  }
}

function replicaLine(observation: Replica): [Level, Fields, string] {
  if (observation.kind === 'changes-available') return ['info', {}, 'the log of the database is read for changes'];
  if (observation.kind === 'realtime-failed')
    return ['error', errorFields(observation.error), 'a WebSocket or its messages have failed'];
  if (observation.kind === 'changes-unavailable')
    return [
      'warn',
      errorFields(observation.error),
      `the log of the database cannot be read for changes: ${observation.reason}`,
    ];
  const { replica } = observation;
  switch (observation.kind) {
    case 'replica-unusable':
      return ['warn', { replica, reason: observation.reason }, 'a read replica gets no calls'];
    case 'replica-usable':
      return ['info', { replica }, 'a read replica gets calls'];
    case 'read-refused':
      return ['warn', { routine: observation.endpoint.id, replica, ...errorFields(observation.error) }, refusalAdvice];
  }
}

const rejectedAdvice =
  'broadcast messages could not be decrypted and were dropped; give all instances the same keys (dataProtection), and other gateways another broadcastChannel';

const settingAdvice =
  'a routine has changed a session setting, and its connection was closed; use SET LOCAL, or a SET clause of the routine';

const refusalAdvice =
  'a routine that is declared to only read can run on the primary only, and so do its calls from now on; declare it volatile, or add consistency strong to its comment';

function settingFields({ endpoint, setting }: ObservationWith<'setting-leaked'>): Fields {
  return { routine: endpoint.id, setting };
}

/** Leaves out the token and the path, which may contain secrets. */
function rejectionFields({ request, scheme, reason }: ObservationWith<'token-refused'>): Fields {
  return { method: request.method, requestId: request.id, scheme, reason };
}

const signInLevels = { succeeded: 'info', refused: 'info', failed: 'warn' } as const;

/** Leaves out the query of the callback, which has the code. */
function externalSignInLine(observation: ObservationWith<'external-sign-in'>): [Level, Fields, string] {
  const { request, provider, action, outcome, reason } = observation;
  const fields = { requestId: request.id, provider, action, ...(reason === null ? {} : { reason }) };
  return [signInLevels[outcome], fields, `external ${action} ${outcome}`];
}

function staleFields({ endpoint, error }: ObservationWith<'endpoint-stale'>): Fields {
  return { routine: endpoint.id, ...errorFields(error) };
}

function connectionFields({ connection, error }: ObservationWith<'connection-failed'>): Fields {
  return { ...(connection === null ? {} : { connection }), ...sqlstateField(error) };
}

function errorFields(error: Error): Fields {
  return { error, ...sqlstateField(error) };
}

/** A field for the SQLSTATE, as some loggers write only the message of an error. */
function sqlstateField(error: Error): Fields {
  const code = [error, error.cause]
    .map(codeFrom)
    .find((found) => found !== null && /^(?=.*\d)[0-9A-Z]{5}$/.test(found));
  return code === undefined ? {} : { sqlstate: code };
}

/** Returns whether the options ask for lines about the observation. */
function isWanted({ kind }: Observation, options: LogOptions): boolean {
  if (kind === 'notice') return options.logConnectionNoticeEvents;
  return options.logEndpointCreatedInfo || (kind !== 'endpoint-created' && kind !== 'endpoints-created');
}

/** Endpoints of a start whose lines have level `info`. */
const maxEndpointLines = 100;

/** Past `maxEndpointLines` the summary is the line at `info`: tens of thousands of lines hide all others, and cost the start a sixth of its time. */
function creationLine(observation: ObservationWith<'endpoints-created' | 'endpoint-created'>): [Level, Fields, string] {
  const areMany = observation.count > maxEndpointLines;
  if (observation.kind === 'endpoints-created')
    return [areMany ? 'info' : 'debug', { count: observation.count }, summaryAdvice];
  const { method, path, id } = observation.endpoint;
  return [areMany ? 'debug' : 'info', { method, path, routine: id }, 'endpoint created'];
}

const summaryAdvice = 'endpoints created; pgway endpoints lists them, and level debug logs a line for each';

/** Settings of annotations (severity info) are warnings, so that they show in any log. */
function diagnosticLevel({ severity }: Diagnostic): Level {
  return severity === 'error' ? 'error' : 'warn';
}

function diagnosticLine({ routine, line, code, message }: Diagnostic): [Fields, string] {
  return [{ routine, line, code }, message];
}

const noticeLevels: Readonly<Record<string, Level>> = { DEBUG: 'debug', WARNING: 'warn' };

function noticeLevel({ notice }: ObservationWith<'notice'>): Level {
  return noticeLevels[notice.severity.replace(/\d$/, '')] ?? 'info';
}

function noticeLine(
  { endpoint, notice }: ObservationWith<'notice'>,
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

function commandFields(
  { endpoint, request, sql, parameters }: ObservationWith<'command'>,
  options: LogOptions,
): Fields {
  const fields = { ...requestFields(request, endpoint), routine: endpoint.id, sql };
  if (!options.logCommandParameters) return fields;
  const headers = headersParameter(endpoint);
  const shown = parameters.map(({ name, value }) => {
    const masked = endpoint.sensitive || name === headers || isSecretName(name);
    return [name, masked ? '***' : value instanceof Uint8Array ? `${value.length} bytes` : value] as const;
  });
  return { ...fields, parameters: Object.fromEntries(shown) };
}

/** Returns the name of the parameter for the request headers, which contain cookies and tokens; null: none. */
function headersParameter({ requestHeaders, parameters }: Endpoint): string | null {
  if (requestHeaders.mode !== 'parameter') return null;
  return parameters.find(({ position }) => position === requestHeaders.position)?.name ?? null;
}

/** A failure with a correlation id is an error of the server. Client errors are frequent, and are logged at `debug`. */
function failureLine({
  request,
  endpoint,
  status,
  correlationId,
  error,
}: ObservationWith<'request-failed'>): [Level, Fields, string] {
  const fields = {
    ...requestFields(request, endpoint),
    status,
    ...(endpoint === null ? {} : { routine: endpoint.id }),
  };
  // Details of a problem may quote the request; messages of the database may quote values.
  const mayQuote = endpoint?.sensitive === true || (error instanceof Problem && error.status < 500);
  if (status < 500 && correlationId === null) {
    const reason = mayQuote ? { reason: codeOf(error) } : { reason: error.message, ...sqlstateField(error) };
    return ['debug', { ...fields, ...reason }, 'request refused'];
  }
  const errorField = mayQuote ? { reason: codeOf(error) } : errorFields(error);
  return [
    'error',
    { ...fields, ...(correlationId === null ? {} : { correlationId }), ...errorField },
    'request failed',
  ];
}

/** Returns the code of a problem, the SQLSTATE, or the class of an error. */
function codeOf(error: Error): string {
  return codeFrom(error) ?? codeFrom(error.cause) ?? error.name;
}

function codeFrom(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  if ('diagnostics' in error) return codeFrom(error.diagnostics);
  return 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** A client may send any length. */
const maxTraceparentLength = 128;

function requestFields(request: ObservationWith<'command'>['request'], endpoint: Endpoint | null): Fields {
  const traceparent = request.header('traceparent')?.slice(0, maxTraceparentLength);
  return {
    method: request.method,
    path: endpoint !== null && hidesPath(endpoint) ? endpoint.path : request.path,
    requestId: request.id,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

function uploadFields(observation: ObservationWith<'upload'>): Fields {
  const { endpoint, request, handler, fileName, contentType, size, status } = observation;
  return { requestId: request.id, routine: endpoint.id, handler, fileName, contentType, size, status };
}
