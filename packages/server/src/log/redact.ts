/** Keeps secrets out of the log, whatever is handed to it. */

const secretKey = /pass(word|wd)?$|^pwd$|secret|token|authorization|cookie|api[-_]?key|connectionstring/i;
const urlPassword = /([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s/]*@/gi;
const keyedPassword = /\b(password|pwd)\s*=\s*('[^']*'|"[^"]*"|[^;\s]+)/gi;
const placeholder = '[redacted]';
const deepest = 6;

/** The text without the passwords of connection strings in it. */
export function redactText(text: string): string {
  return text.replace(urlPassword, `$1:${placeholder}@`).replace(keyedPassword, `$1=${placeholder}`);
}

/** The value with secrets replaced, by the names of their keys and in connection strings; errors become plain data. */
export function redact(value: unknown, depth: number = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= deepest) return '…';
  if (value instanceof Error) return redact(errorFields(value), depth);
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  const entries = Object.entries(value).map(([key, inner]) => {
    return [key, secretKey.test(key) ? placeholder : redact(inner, depth + 1)] as const;
  });
  return Object.fromEntries(entries);
}

/** What a log needs of an error. A database's `detail` is left out: it quotes the data of rows. */
function errorFields(error: Error): Readonly<Record<string, unknown>> {
  const { code: own, cause, diagnostics } = error as Error & { code?: unknown; diagnostics?: { code?: unknown } };
  const code = own ?? diagnostics?.code;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(cause instanceof Error ? { cause } : {}),
  };
}
