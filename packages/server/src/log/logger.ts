import { escapeControlCharacters } from '../terminal-text.ts';
import { redact, redactText } from './redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
type Fields = Readonly<Record<string, unknown>>;

/** Compatible with pino: fields, then the message. */
export interface ServerLogger {
  readonly debug: (fields: Fields, message: string) => void;
  readonly info: (fields: Fields, message: string) => void;
  readonly warn: (fields: Fields, message: string) => void;
  readonly error: (fields: Fields, message: string) => void;
}

export interface LoggerOptions {
  readonly level: LogLevel | 'silent';
  readonly format: 'pretty' | 'json';
  /** Receives complete lines. */
  readonly write: (text: string) => void;
  readonly now: () => Date;
}

const ranks: Readonly<Record<LogLevel | 'silent', number>> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

/** C1 control characters: JSON does not escape them, and some terminals interpret them. */
const c1Controls = /[\u007f-\u009f]/g;

function jsonLine(time: Date, level: LogLevel, fields: Fields, message: string): string {
  const line = { time: time.toISOString(), level, ...(redact(fields) as Fields), msg: redactText(message) };
  return JSON.stringify(line).replace(c1Controls, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}

function prettyLine(time: Date, level: LogLevel, fields: Fields, message: string): string {
  const clock = time.toISOString().slice(11, 23);
  // All lines have the same name, which matters for collected (JSON) logs only.
  const { name: _, ...rest } = redact(fields) as Fields;
  const pairs = Object.entries(rest).map(([key, value]) => {
    return ` ${key}=${escapeControlCharacters(typeof value === 'string' ? value : (formatValue(value) ?? ''))}`;
  });
  return `${clock} ${level.padEnd(5)} ${escapeControlCharacters(redactText(message))}${pairs.join('')}`;
}

/** Returns the message of an error without its stack, and JSON for other values. */
function formatValue(value: unknown): string | undefined {
  const isError = typeof value === 'object' && value !== null && 'stack' in value && 'message' in value;
  return isError ? String(value.message) : JSON.stringify(value);
}

export function createLogger(options: LoggerOptions): ServerLogger {
  const render = options.format === 'json' ? jsonLine : prettyLine;
  const at =
    (level: LogLevel): ServerLogger[LogLevel] =>
    (fields, message) => {
      if (ranks[level] < ranks[options.level]) return;
      options.write(`${render(options.now(), level, fields, message)}\n`);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
