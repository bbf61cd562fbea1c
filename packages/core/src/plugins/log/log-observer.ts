import type { Logger, Observation, Observer } from '../../pipeline/ports.ts';
import type { Diagnostic } from '../../plan/diagnostic.ts';
import type { LogOptions } from './options.ts';

type Level = keyof Logger;
type Of<Kind extends Observation['kind']> = Extract<Observation, { readonly kind: Kind }>;
type Fields = Readonly<Record<string, unknown>>;

/** Turns observations into log lines. No line holds a query string, a body, a cookie or a token. */
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
    }
  };
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
  const fields = { ...requestFields(request), routine: endpoint.id, sql };
  if (!options.logCommandParameters) return fields;
  const shown = parameters.map(({ name, value }) => {
    const masked = endpoint.sensitive || secret.test(name);
    return [name, masked ? '***' : value instanceof Uint8Array ? `${value.length} bytes` : value] as const;
  });
  return { ...fields, parameters: Object.fromEntries(shown) };
}

/** A refusal with a correlation id is the server's own trouble; the others are the client's, and frequent. */
function failureLine({
  request,
  endpoint,
  status,
  correlationId,
  error,
}: Of<'request-failed'>): [Level, Fields, string] {
  const fields = { ...requestFields(request), status, ...(endpoint === null ? {} : { routine: endpoint.id }) };
  if (status < 500 && correlationId === null) return ['debug', { ...fields, reason: error.message }, 'request refused'];
  return ['error', { ...fields, ...(correlationId === null ? {} : { correlationId }), error }, 'request failed'];
}

/** A request is found again by its id, or by the trace that it belongs to. */
function requestFields(request: Of<'command'>['request']): Fields {
  const requestId = request.header('x-request-id');
  const traceparent = request.header('traceparent');
  return {
    method: request.method,
    path: request.path,
    ...(requestId === undefined ? {} : { requestId }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}
