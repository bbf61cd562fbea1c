/** Keeps secrets out of the log, whatever is handed to it. */

const secretKey = /pass(word|wd)?$|^pwd$|secret|token|authorization|cookie|api[-_]?key|connectionstring/i;
// These run over text that clients send, so none may take more than linear time. A URL is found by its `://`: to look for
// the scheme before that would be to try every letter of a long word.
const urlPassword = /(:\/\/[^\s:/@]*):[^\s/]*@/g;
const cutUrlPassword = /(:\/\/[^\s:/@]*):[^\s/]*$/;
const keyedPassword = /(password|pwd)\s*=\s*('[^']*(?:'|$)|"[^"]*(?:"|$)|[^;\s]+)/gi;
const placeholder = '***';
const deepest = 6;
const longest = 4096;

/** The first 4096 characters of the text, with a mark when there were more, without the passwords of connection strings. */
export function redactText(text: string): string {
  if (text.length <= longest) return withoutPasswords(text);
  // The cut may go through a password, and leave it without the `@` that it is known by.
  const kept = text.slice(0, longest).replace(cutUrlPassword, `$1:${placeholder}`);
  return `${withoutPasswords(kept)}… (cut, ${text.length} characters)`;
}

function withoutPasswords(text: string): string {
  return text.replace(urlPassword, `$1:${placeholder}@`).replace(keyedPassword, `$1=${placeholder}`);
}

/**
 * The value with secrets replaced, by the names of their keys and in connection strings, and with long texts cut; errors
 * become plain data.
 */
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
