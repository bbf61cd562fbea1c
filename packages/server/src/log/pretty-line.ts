import { escapeControlCharacters } from '@pgway/core/terminal';

type Fields = Readonly<Record<string, unknown>>;

/** Returns a line for readers from a JSON line of the logger. `pino-pretty` does not fit: it writes control characters unchanged. */
export function prettyLine(json: string): string {
  // All lines have the same name, and the message shows the source: both matter for collected (JSON) logs only.
  const { time, level, name: _, source: __, msg, ...fields } = JSON.parse(json) as Fields;
  const pairs = Object.entries(fields).map(([key, value]) => {
    return ` ${key}=${escapeControlCharacters(typeof value === 'string' ? value : (formatValue(value) ?? ''))}`;
  });
  return `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${escapeControlCharacters(String(msg))}${pairs.join('')}\n`;
}

/** Returns the message of an error without its stack, and JSON for other values. */
function formatValue(value: unknown): string | undefined {
  const isError = typeof value === 'object' && value !== null && 'stack' in value && 'message' in value;
  return isError ? String(value.message) : JSON.stringify(value);
}
