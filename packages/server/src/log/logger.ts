import { neutralise } from '../terminal-text.ts';
import { redact, redactText } from './redact.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error';
type Fields = Readonly<Record<string, unknown>>;

/** Fields first, then the message: the order in which pino and its kin are called, so that one of them can stand here. */
export interface Logger {
  readonly debug: (fields: Fields, message: string) => void;
  readonly info: (fields: Fields, message: string) => void;
  readonly warn: (fields: Fields, message: string) => void;
  readonly error: (fields: Fields, message: string) => void;
}

export interface LoggerOptions {
  readonly level: Level | 'silent';
  readonly format: 'pretty' | 'json';
  /** Takes whole lines. */
  readonly write: (text: string) => void;
  readonly now: () => Date;
}

const ranks: Readonly<Record<Level | 'silent', number>> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

/** JSON leaves these as they are, and some terminals obey them. */
const c1Controls = /[\u007f-\u009f]/g;

function jsonLine(time: Date, level: Level, fields: Fields, message: string): string {
  const line = { time: time.toISOString(), level, ...(redact(fields) as Fields), msg: redactText(message) };
  return JSON.stringify(line).replace(c1Controls, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}

function prettyLine(time: Date, level: Level, fields: Fields, message: string): string {
  const clock = time.toISOString().slice(11, 23);
  // The name tells loggers apart in a collection of logs; on a terminal there is only this one.
  const { name: _, ...shown } = redact(fields) as Fields;
  const pairs = Object.entries(shown).map(([key, value]) => {
    return ` ${key}=${neutralise(typeof value === 'string' ? value : (shorten(value) ?? ''))}`;
  });
  return `${clock} ${level.padEnd(5)} ${neutralise(redactText(message))}${pairs.join('')}`;
}

/** An error in a line for people is its message; the stack is in the JSON form. */
function shorten(value: unknown): string | undefined {
  const isError = typeof value === 'object' && value !== null && 'stack' in value && 'message' in value;
  return isError ? String(value.message) : JSON.stringify(value);
}

export function createLogger(options: LoggerOptions): Logger {
  const render = options.format === 'json' ? jsonLine : prettyLine;
  const at =
    (level: Level): Logger[Level] =>
    (fields, message) => {
      if (ranks[level] < ranks[options.level]) return;
      options.write(`${render(options.now(), level, fields, message)}\n`);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
