import { numberedName } from '../naming.ts';
import { stringLiteral } from '../source-text.ts';
import type { ClientFunction } from './client-model.ts';
import type { TypescriptClientOptions } from './options.ts';
import type { TypeScriptOnly } from './type-text.ts';

/** Returns the functions `batch` and `reference` of a client; none without `batchPath`. */
export function batchTexts(
  functions: readonly ClientFunction[],
  options: TypescriptClientOptions,
  tsOnly: TypeScriptOnly,
): readonly string[] {
  const { batchPath } = options;
  return batchPath === null || functions.length === 0
    ? []
    : [
        referenceText(freeName('reference', functions), tsOnly),
        batchText(functions, options, tsOnly),
        itemText(tsOnly),
        answerText(tsOnly),
      ];
}

/** Functions of endpoints keep their names. */
function freeName(name: string, functions: readonly ClientFunction[]): string {
  const names = new Set(functions.flatMap((fn) => [fn.name, fn.urlName, fn.eventSourceName]));
  return names.has(name) ? numberedName(name, (candidate) => names.has(candidate)) : name;
}

function referenceText(name: string, tsOnly: TypeScriptOnly): string {
  return `/** The number of references in the body that is made now. */
let _references = 0;

/** A value in the result of an earlier call of a batch: the position of the call, and the path in its result, such as \`id\` or \`0/id\`. For bodies only. */
export function ${name}${tsOnly('<T>')}(position${tsOnly(': number')}, path${tsOnly(': string')} = "")${tsOnly(': T')} {
  const target = path === "" ? String(position) : \`\${position}/\${path}\`;
  return { toJSON: () => (_references++, { $ref: target }) }${tsOnly(' as T')};
}`;
}

function batchHeaders({ customHeaders, xsrfTokenHeaderName }: TypescriptClientOptions): string {
  return [
    '"Content-Type": "application/json"',
    ...Object.entries(customHeaders).map(([name, expression]) => `${stringLiteral(name)}: ${expression}`),
    ...(xsrfTokenHeaderName === null
      ? []
      : [`...(options.xsrfToken === undefined ? {} : { ${stringLiteral(xsrfTokenHeaderName)}: options.xsrfToken })`]),
    '...(key === null ? {} : { "Idempotency-Key": key })',
    '...options.headers',
  ].join(', ');
}

function batchText(
  functions: readonly ClientFunction[],
  options: TypescriptClientOptions,
  tsOnly: TypeScriptOnly,
): string {
  return `/**
 * Sends several calls as one request: they run in one transaction, all or none. Each call gets \`tx\` as its options.
 * With \`idempotencyKey\`, or that of a call, the batch runs once for each key.
 * Rejects with a GatewayError whose problem has the position of the failed call in \`pointer\`.
 */
export async function ${freeName('batch', functions)}${tsOnly('<T extends readonly unknown[] | []>')}(
  calls${tsOnly(': (tx: ICallOptions) => T')},
  options${tsOnly(': ICallOptions & { isolation?: "read-committed" | "repeatable-read" | "serializable" | undefined; idempotencyKey?: string | undefined }')} = {},
)${tsOnly(': Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }>')} {
  const items${tsOnly(': string[]')} = [];
  const waiting${tsOnly(': { resolve: (response: Response) => void; reject: (error: unknown) => void }[]')} = [];
  let isSent = false;
  let key = options.idempotencyKey === undefined ? null : JSON.stringify(options.idempotencyKey);
  const send = (url${tsOnly(': string')}, init${tsOnly(': RequestInit')})${tsOnly(': Promise<Response>')} => {
    if (isSent) return Promise.reject(new TypeError("the batch has been sent: start its calls before anything is awaited"));
    items.push(_item(url, init));
    key ??= new Headers(init.headers).get("idempotency-key");
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  };
  const results = Promise.all(calls({ fetch: send }));
  let isRefused = false;
  results.catch(() => (isRefused = true));
  // A call that cannot be sent rejects now, and the others are not sent.
  await new Promise((resolve) => setTimeout(resolve, 0));
  isSent = true;
  if (isRefused) {
    for (const { reject } of waiting) reject(new TypeError("another call of the batch could not be sent"));
    return results;
  }
  if (items.length === 0) return results;
  try {
    const query = options.isolation === undefined ? "" : \`?isolation=\${options.isolation}\`;
    const response = await (options.fetch ?? fetch)(_baseUrl + ${stringLiteral(options.batchPath!)} + query, {
      method: "POST",
      headers: { ${batchHeaders(options)} },
      body: \`[\${items.join(",")}]\`,
      signal: options.signal ?? null,
    });
    options.onResponse?.({ status: response.status, headers: response.headers });
    const problem = await _problem(response);
    if (problem !== null) throw new GatewayError(problem, response.headers);
    const answers${tsOnly(': IBatchAnswer[]')} = await response.json();
    for (const [index, { resolve }] of waiting.entries()) resolve(_answer(answers[index]${tsOnly('!')}));
  } catch (error) {
    for (const { reject } of waiting) reject(error);
    throw error;
  }
  return results;
}`;
}

function itemText(tsOnly: TypeScriptOnly): string {
  return `const _itemHeaders = ["accept-language", "if-match", "if-none-match", "prefer", "range"];

/** The text of a call as a part of a batch. Objects such as \`{"$ref": "0/id"}\` are data unless \`reference\` has made them. */
function _item(url${tsOnly(': string')}, init${tsOnly(': RequestInit')})${tsOnly(': string')} {
  const references = _references;
  _references = 0;
  const all = new Headers(init.headers);
  const body = init.body ?? null;
  if (body !== null && (typeof body !== "string" || !(all.get("content-type") ?? "").includes("json"))) {
    throw new TypeError("a body that is not JSON cannot be part of a batch");
  }
  if (references > 0 && (body ?? "").split('"$ref"').length - 1 !== references) {
    throw new TypeError("a call of a batch cannot have both references and data with the key $ref, or a reference outside its body");
  }
  const headers = Object.fromEntries([...all].filter(([name]) => _itemHeaders.includes(name)));
  const path = url.startsWith(_baseUrl) ? url.slice(_baseUrl.length) : url;
  const head = JSON.stringify({ method: init.method ?? "GET", path, headers, references: references > 0 });
  return body === null ? head : \`\${head.slice(0, -1)},"body":\${body}}\`;
}`;
}

function answerText(tsOnly: TypeScriptOnly): string {
  const type = `interface IBatchAnswer {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
}

`;
  return `${tsOnly(type)}/** The response to a call of a batch, as functions read it. */
function _answer({ status, headers, body }${tsOnly(': IBatchAnswer')})${tsOnly(': Response')} {
  const text = typeof body === "string" ? body : body === null ? "" : JSON.stringify(body);
  const answer = { ok: true, status, statusText: "", headers: new Headers(headers), text: async () => text, json: async () => body };
  return answer${tsOnly(' as unknown as Response')};
}`;
}
