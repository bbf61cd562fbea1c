/** Lines of the access log. Every request has one, so that they are made without the logger, which takes ten times as long. */
import type { LoggerOptions } from './logger.ts';
import { escapeC1, ranks } from './log-level.ts';
import type { RequestEntry } from './request-log.ts';

/** Creates the function that writes the line of a request to every target whose level allows it. */
export function createAccessWriter({
  targets,
  levels,
  now,
  worker = null,
}: LoggerOptions): (entry: RequestEntry) => void {
  const writes = targets
    .filter(({ level }) => level !== 'silent' && ranks[levels.access ?? level] <= ranks.info)
    .map(({ write }) => write);
  const source = `${number('worker', worker)},"source":"access"`;
  let last = { at: 0, text: '' };
  return (entry) => {
    const time = now();
    if (time.getTime() !== last.at) last = { at: time.getTime(), text: time.toISOString() };
    const line = accessLine(entry, last.text, source);
    for (const write of writes) write(line);
  };
}

/** Returns the line as JSON, without the values that are null. The fields of an entry have no secrets. */
function accessLine(entry: RequestEntry, time: string, source: string): string {
  const request = `"method":${quote(entry.method)},"path":${quote(entry.path)},"status":${entry.status},"durationMs":${entry.durationMs}`;
  const work = `${number('databaseMs', entry.databaseMs)}${number('rows', entry.rows)}${number('bytes', entry.bytes)}`;
  const client = `${text('user', entry.user)}${text('requestId', entry.requestId)}${text('address', entry.address)}`;
  const others = `${text('tenant', entry.tenant)}${text('routine', entry.routine)}${text('traceparent', entry.traceparent)}${entry.isIncomplete ? ',"incomplete":true' : ''}`;
  return `{"level":"info","time":"${time}"${source},${request}${work}${client}${others},"msg":"request"}\n`;
}

function number(name: string, value: number | null): string {
  return value === null ? '' : `,"${name}":${value}`;
}

function text(name: string, value: string | null): string {
  return value === null ? '' : `,"${name}":${quote(value)}`;
}

/** Printable ASCII without `"` and `\`: the same in JSON. */
const unescaped = /^[ !#-[\]-~]*$/;

function quote(value: string): string {
  return unescaped.test(value) ? `"${value}"` : escapeC1(JSON.stringify(value));
}
