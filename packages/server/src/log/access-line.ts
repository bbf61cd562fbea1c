/** Lines of the access log. Every request has one, so that they are made without the logger, which takes ten times as long. */
import { escapeControlCharacters } from '@pgway/core/terminal';
import type { LoggerOptions, LogTarget } from './logger.ts';
import { escapeC1, ranks } from './log-level.ts';
import type { RequestEntry } from './request-log.ts';

/** How a form of the lines writes a field. A value that is null has no field. */
interface FieldForm {
  readonly number: (name: string, value: number | null) => string;
  readonly text: (name: string, value: string | null) => string;
}

/** A function for each target, which writes the line of a request. */
type LineWriter = (entry: RequestEntry, time: string) => void;

/** Creates the function that writes the line of a request to every target whose level allows it. */
export function createAccessWriter({
  targets,
  levels,
  worker = null,
}: Omit<LoggerOptions, 'now'>): (entry: RequestEntry) => void {
  const wanted = targets.filter(({ level }) => level !== 'silent' && ranks[levels.access ?? level] <= ranks.info);
  const writers = lineWriters(wanted, worker);
  let last = { at: 0, text: '' };
  return (entry) => {
    const { endedAt } = entry;
    if (endedAt !== last.at) last = { at: endedAt, text: new Date(endedAt).toISOString() };
    for (const write of writers) write(entry, last.text);
  };
}

function lineWriters(targets: readonly LogTarget[], worker: number | null): readonly LineWriter[] {
  const pretty = targets.flatMap(({ writePretty }) => (writePretty === undefined ? [] : [writePretty]));
  const json = targets.flatMap(({ write, writePretty }) => (writePretty === undefined ? [write] : []));
  const prettyWorker = prettyForm.number('worker', worker);
  const jsonSource = `${jsonForm.number('worker', worker)},"source":"access"`;
  return [
    ...pretty.map(
      (write): LineWriter =>
        (entry, time) =>
          write(prettyAccessLine(entry, time, prettyWorker)),
    ),
    ...(json.length === 0 ? [] : [jsonWriter(json, jsonSource)]),
  ];
}

/** Makes a line once for all targets that have JSON. */
function jsonWriter(writes: readonly LogTarget['write'][], source: string): LineWriter {
  return (entry, time) => {
    const line = `{"level":"info","time":"${time}"${source},"method":${quote(entry.method)},"path":${quote(entry.path)},"status":${entry.status}${fields(entry, jsonForm)}${entry.isIncomplete ? ',"incomplete":true' : ''},"msg":"request"}\n`;
    for (const write of writes) write(line);
  };
}

/** Returns the line for readers, as `prettyLine` writes it for other sources. */
function prettyAccessLine(entry: RequestEntry, time: string, worker: string): string {
  const message = escapeControlCharacters(`${entry.method} ${entry.path} ${entry.status}`);
  return `${time.slice(11, 23)} info  ${message}${worker}${fields(entry, prettyForm)}${entry.isIncomplete ? ' incomplete=true' : ''}\n`;
}

/** Returns the fields after the status, in the order of the line. None of them has a secret. */
function fields(entry: RequestEntry, { number, text }: FieldForm): string {
  const work = `${number('durationMs', entry.durationMs)}${number('databaseMs', entry.databaseMs)}${number('rows', entry.rows)}${number('bytes', entry.bytes)}`;
  const client = `${text('user', entry.user)}${text('requestId', entry.requestId)}${text('address', entry.address)}`;
  return `${work}${client}${text('tenant', entry.tenant)}${text('routine', entry.routine)}${text('traceparent', entry.traceparent)}`;
}

const jsonForm: FieldForm = {
  number: (name, value) => (value === null ? '' : `,"${name}":${value}`),
  text: (name, value) => (value === null ? '' : `,"${name}":${quote(value)}`),
};

const prettyForm: FieldForm = {
  number: (name, value) => (value === null ? '' : ` ${name}=${value}`),
  text: (name, value) => (value === null ? '' : ` ${name}=${escapeControlCharacters(value)}`),
};

/** Printable ASCII without `"` and `\`: the same in JSON. */
const unescaped = /^[ !#-[\]-~]*$/;

function quote(value: string): string {
  return unescaped.test(value) ? `"${value}"` : escapeC1(JSON.stringify(value));
}
