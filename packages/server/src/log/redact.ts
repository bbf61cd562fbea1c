/** Redaction of secrets in log fields and messages. Own code: the redaction of loggers needs fixed paths and skips text. */

const secretKey = /pass(word|wd)?$|^pwd$|secret|token|authorization|cookie|api[-_]?key|connectionstring/i;
// These run over text from clients, so all must be linear. Matching the scheme before `://` would be quadratic.
const urlPassword = /(:\/\/[^\s:/@]*):[^\s/]*@/g;
const truncatedUrlPassword = /(:\/\/[^\s:/@]*):[^\s/]*$/;
const keyedPassword = /(password|pwd)\s*=\s*('[^']*(?:'|$)|"[^"]*(?:"|$)|[^;\s]+)/gi;
/** A surrogate without its pair, which PostgreSQL refuses in `jsonb`. */
const loneSurrogate = /\p{Surrogate}/gu;
const placeholder = '***';
/** Matches each text that the patterns above may change. Most texts have none of these characters: one test is faster. */
const suspicious = /[:=\ud800-\udfff]/;
const maxDepth = 6;
const maxLength = 4096;

/** Removes the passwords of connection strings and unpaired surrogates, and truncates the text to 4096 characters. */
export function redactText(text: string): string {
  if (text.length <= maxLength && !suspicious.test(text)) return text;
  if (text.length <= maxLength) return removePasswords(text.replaceAll(loneSurrogate, '\ufffd'));
  // The cut may remove the `@` after a password.
  const kept = text
    .slice(0, maxLength)
    .replaceAll(loneSurrogate, '\ufffd')
    .replace(truncatedUrlPassword, `$1:${placeholder}`);
  return `${removePasswords(kept)}… (truncated, ${text.length} characters)`;
}

function removePasswords(text: string): string {
  return text.replace(urlPassword, `$1:${placeholder}@`).replace(keyedPassword, `$1=${placeholder}`);
}

/** Replaces secrets, found by key name and in connection strings, truncates long strings, and converts errors to plain data. */
export function redact(value: unknown, depth: number = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= maxDepth) return '…';
  if (value instanceof Error) return redact(errorFields(value), depth);
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  const entries = Object.entries(value).map(([key, inner]) => {
    return [key, secretKey.test(key) ? placeholder : redact(inner, depth + 1)] as const;
  });
  return Object.fromEntries(entries);
}

/** Omits the `detail` of database errors, which quotes row data. */
function errorFields(error: Error): Readonly<Record<string, unknown>> {
  const { code: ownCode, cause, diagnostics } = error as Error & { code?: unknown; diagnostics?: { code?: unknown } };
  const code = ownCode ?? diagnostics?.code;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(cause instanceof Error ? { cause } : {}),
  };
}
