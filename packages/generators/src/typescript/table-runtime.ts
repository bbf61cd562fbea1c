/** The code of the typed client of tables. */
import { stringLiteral } from '../source-text.ts';
import type { ClientTable } from './table-types.ts';
import type { TypeScriptOnly } from './type-text.ts';

/** Returns the constants and functions of the client. */
export function tableRuntime(
  tables: readonly ClientTable[],
  {
    baseUrl,
    headers,
    streams,
  }: {
    readonly baseUrl: string;
    readonly headers: string;
    readonly streams: readonly { readonly key: string; readonly name: string }[];
  },
  tsOnly: TypeScriptOnly,
): readonly string[] {
  return [
    `const _baseUrl${tsOnly(': string')} = ${stringLiteral(baseUrl)};`,
    metadataText(tables, tsOnly),
    errorText(tsOnly),
    valueText(tsOnly),
    comparisonText(tsOnly),
    whereText(tsOnly),
    readText(tsOnly),
    sendText(headers, tsOnly),
    methodsText(tsOnly),
    ...(streams.length === 0 ? [] : [streamsText(streams, tsOnly)]),
    `export const db${tsOnly(': IDatabase')} = Object.fromEntries([..._tables.keys()].map((key) => [key, ${streams.length === 0 ? '_methods(key)' : '{ ..._methods(key), ..._streams.get(key) }'}]))${tsOnly(' as unknown as IDatabase')};`,
  ];
}

function metadataText(tables: readonly ClientTable[], tsOnly: TypeScriptOnly): string {
  const entries = tables.map(({ key, table, relations }) => {
    const json = table.columns.filter(({ type }) => type.json === 'json').map(({ name }) => stringLiteral(name));
    const related = relations.map(
      ({ name, selector, target }) =>
        `[${stringLiteral(name)}, [${stringLiteral(selector)}, ${stringLiteral(target)}]]`,
    );
    const members = [
      `path: ${stringLiteral(table.path)}`,
      `schema: ${stringLiteral(table.schema)}`,
      `json: [${json.join(', ')}]`,
      `relations: new Map([${related.join(', ')}])`,
    ];
    return `  [${stringLiteral(key)}, { ${members.join(', ')} }],\n`;
  });
  const type = tsOnly(
    '<string, { path: string; schema: string; json: readonly string[]; relations: ReadonlyMap<string, readonly [selector: string, table: string]> }>',
  );
  return `const _tables = new Map${type}([\n${entries.join('')}]);`;
}

function streamsText(
  streams: readonly { readonly key: string; readonly name: string }[],
  tsOnly: TypeScriptOnly,
): string {
  const entries = streams.map(({ key, name }) => `  [${stringLiteral(key)}, { changes: ${name} }],\n`);
  return `const _streams = new Map${tsOnly('<string, object>')}([\n${entries.join('')}]);`;
}

const errorText = (tsOnly: TypeScriptOnly): string => `/** A failed request; the problem says why. */
export class TableError extends Error {
  ${tsOnly('readonly ')}status${tsOnly(': number')};
  ${tsOnly('readonly ')}problem${tsOnly(': ITableProblem')};

  constructor(status${tsOnly(': number')}, problem${tsOnly(': ITableProblem')}) {
    super(problem.message);
    this.name = "TableError";
    this.status = status;
    this.problem = problem;
  }
}`;

const valueText = (tsOnly: TypeScriptOnly): string => {
  const any = tsOnly(': unknown');
  const text = tsOnly(': string');
  return `const _operators${tsOnly(': Record<string, string>')} = { eq: "eq", neq: "neq", gt: "gt", gte: "gte", lt: "lt", lte: "lte", in: "in", like: "like", ilike: "ilike", match: "match", contains: "cs", containedBy: "cd", overlaps: "ov", search: "wfts" };

function _quote(text${text})${text} {
  return \`"\${text.replace(/["\\\\]/g, "\\\\$&")}"\`;
}

function _name(name${text})${text} {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : _quote(name);
}

/** A value in the input syntax of PostgreSQL; lists of columns that are not JSON are array literals. */
function _value(value${any}, isJson${tsOnly(': boolean')})${text} {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value) && !isJson) {
    return \`{\${value.map((one) => (one === null ? "NULL" : Array.isArray(one) ? _value(one, false) : _quote(_value(one, false)))).join(",")}}\`;
  }
  return isJson || (typeof value === "object" && value !== null) ? JSON.stringify(value) : String(value);
}

function _isOperators(value${any})${tsOnly(': value is object')} {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}`;
};

const comparisonText = (tsOnly: TypeScriptOnly): string => {
  const any = tsOnly(': unknown');
  const text = tsOnly(': string');
  return `function _comparison(column${text}, operator${text}, value${any}, isJson${tsOnly(': boolean')}, prefix${text} = "")${text} {
  if (value === undefined) throw new TypeError(\`the condition of "\${column}" is undefined\`);
  const name = Object.hasOwn(_operators, operator) ? _operators[operator] : undefined;
  if (name === undefined) throw new TypeError(\`"\${operator}" is not an operator\`);
  if (value === null && (operator === "eq" || operator === "neq")) {
    const isNegated = (operator === "neq") !== (prefix !== "");
    return \`\${_name(column)}.\${isNegated ? "not." : ""}is.null\`;
  }
  if (value === null) throw new TypeError(\`the operator "\${operator}" of "\${column}" has no null\`);
  const text =
    operator === "in"
      ? \`(\${(value${tsOnly(' as readonly unknown[]')}).map((one) => _quote(_value(one, false))).join(",")})\`
      : _quote(typeof value === "string" && (operator === "contains" || operator === "containedBy" || operator === "overlaps") ? value : _value(value, isJson));
  return \`\${_name(column)}.\${prefix}\${name}.\${text}\`;
}`;
};

const whereText = (tsOnly: TypeScriptOnly): string => {
  const text = tsOnly(': string');
  return `function _conditions(table${text}, where${tsOnly(': object')})${tsOnly(': string[]')} {
  const { json } = _tables.get(table)${tsOnly('!')};
  return Object.entries(where).flatMap(([column, condition]) => {
    const isJson = json.includes(column);
    if (!_isOperators(condition)) return [_comparison(column, "eq", condition, isJson)];
    const { not = {}, ...plain } = condition${tsOnly(' as { not?: object }')};
    const found = [
      ...Object.entries(plain).map(([operator, value]) => _comparison(column, operator, value, isJson)),
      ...Object.entries(not).map(([operator, value]) => _comparison(column, operator, value, isJson, "not.")),
    ];
    if (found.length === 0) throw new TypeError(\`the condition of "\${column}" has no operator\`);
    return found;
  });
}

/** Returns the text of a group; null without a condition. */
function _where(table${text}, where${tsOnly(': object | undefined')})${tsOnly(': string | null')} {
  if (where === undefined) return null;
  if (!Array.isArray(where)) {
    const all = _conditions(table, where);
    return all.length === 0 ? null : \`(\${all.join(",")})\`;
  }
  const groups = where.map((one) => _conditions(table, one));
  if (groups.length === 0 || groups.some((group) => group.length === 0)) {
    throw new TypeError("each object of a list in where needs a condition");
  }
  return \`(or(\${groups.map((group) => \`and(\${group.join(",")})\`).join(",")}))\`;
}`;
};

const readText = (tsOnly: TypeScriptOnly): string => {
  const text = tsOnly(': string');
  const list = tsOnly(': readonly string[]');
  return `${tsOnly(`interface _Query {
  readonly columns?: readonly string[];
  readonly with?: Record<string, true | _Query>;
  readonly where?: object;
  readonly order?: readonly (string | { column: string; descending?: boolean; nulls?: string })[];
  readonly limit?: number;
  readonly offset?: number;
}
`)}
/** Returns the text of \`select\`, and adds the parameters of the query and of its related rows. */
function _read(table${text}, query${tsOnly(': _Query')}, path${text}, parameters${tsOnly(': URLSearchParams')})${text} {
  const group = _where(table, query.where);
  if (group !== null) parameters.append(\`\${path}and\`, group);
  if (query.order !== undefined && query.order.length > 0) {
    const terms = query.order.map((term) => {
      const { column, descending = false, nulls } = typeof term === "string" ? { column: term${tsOnly(', nulls: undefined')} } : term;
      return \`\${_name(column)}\${descending ? ".desc" : ""}\${nulls === undefined ? "" : \`.nulls\${nulls}\`}\`;
    });
    parameters.append(\`\${path}order\`, terms.join(","));
  }
  if (query.limit !== undefined) parameters.append(\`\${path}limit\`, String(query.limit));
  if (query.offset !== undefined) parameters.append(\`\${path}offset\`, String(query.offset));
  const related = Object.entries(query.with ?? {}).flatMap(([name, inner]) => {
    if (inner === undefined) return [];
    const relation = _tables.get(table)${tsOnly('!')}.relations.get(name);
    if (relation === undefined) throw new TypeError(\`"\${table}" has no relation "\${name}"\`);
    const [selector, target] = relation;
    const alias = _name(name);
    return [\`\${alias}:\${selector}(\${_read(target, inner === true ? {} : inner, \`\${path}\${alias}.\`, parameters)})\`];
  });
  return [...(query.columns?.map(_name) ?? ["*"]), ...related].join(",");
}

function _names(names${list})${text} {
  return names.map(_name).join(",");
}`;
};

const sendText = (headers: string, tsOnly: TypeScriptOnly): string =>
  `async function _send(method${tsOnly(': string')}, table${tsOnly(': string')}, parameters${tsOnly(': URLSearchParams')}, prefer${tsOnly(': readonly string[]')}, options${tsOnly(': ITableOptions')}, body${tsOnly('?: unknown')})${tsOnly(': Promise<Response>')} {
  const { path, schema } = _tables.get(table)${tsOnly('!')};
  const query = parameters.size === 0 ? "" : \`?\${parameters}\`;
  const isRead = method === "GET" || method === "HEAD";
  const response = await fetch(_baseUrl + path + query, {
    method,
    headers: {
      [isRead ? "Accept-Profile" : "Content-Profile"]: schema,
      ...(prefer.length === 0 ? {} : { Prefer: prefer.join(", ") }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),${headers}
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: options.signal ?? null,
  });
  if (response.ok) return response;
  const text = await response.text();
  let problem${tsOnly(': ITableProblem')} = { message: text || response.statusText || String(response.status) };
  try {
    const found${tsOnly(': unknown')} = JSON.parse(text);
    if (typeof found === "object" && found !== null) problem = { ...problem, ...found };
  } catch {
    // The body is text.
  }
  throw new TableError(response.status, problem);
}`;

const methodsText = (tsOnly: TypeScriptOnly): string => {
  const options = `options${tsOnly(': ITableOptions')} = {}`;
  const query = `query${tsOnly(': _Query')} = {}`;
  const write = tsOnly(': _Write');
  return `${tsOnly(`interface _Write extends _Query {
  readonly returning?: true | _Query;
  readonly set?: unknown;
  readonly onConflict?: readonly string[];
  readonly ignoreDuplicates?: boolean;
}

`)}/** Sends a write, and returns the rows that it asks for. */
async function _write(method${tsOnly(': string')}, table${tsOnly(': string')}, query${write}, options${tsOnly(': ITableOptions')}, body${tsOnly('?: unknown')}, more${tsOnly(': readonly string[]')} = [])${tsOnly(': Promise<unknown>')} {
  const parameters = new URLSearchParams();
  const group = _where(table, query.where);
  if (group !== null) parameters.append("and", group);
  if (query.onConflict !== undefined) parameters.append("on_conflict", _names(query.onConflict));
  if (query.returning === undefined) {
    await _send(method, table, parameters, ["return=minimal", ...more], options, body);
    return undefined;
  }
  parameters.append("select", _read(table, query.returning === true ? {} : query.returning, "", parameters));
  const response = await _send(method, table, parameters, ["return=representation", ...more], options, body);
  return response.json();
}

function _insert(table${tsOnly(': string')}, rows${tsOnly(': unknown')}, query${write}, options${tsOnly(': ITableOptions')}, more${tsOnly(': readonly string[]')})${tsOnly(': Promise<unknown>')} {
  return _write("POST", table, query, options, rows, ["missing=default", ...more]);
}

function _methods(table${tsOnly(': string')}) {
  const select = async (${query}, ${options})${tsOnly(': Promise<unknown[]>')} => {
    const parameters = new URLSearchParams();
    parameters.append("select", _read(table, query, "", parameters));
    const response = await _send("GET", table, parameters, [], options);
    return (await response.json())${tsOnly(' as unknown[]')};
  };
  return {
    select,
    first: async (${query}, ${options}) => (await select({ ...query, limit: 1 }, options))[0] ?? null,
    count: async ({ where }${tsOnly(': _Query')} = {}, ${options}) => {
      const parameters = new URLSearchParams();
      _read(table, where === undefined ? {} : { where }, "", parameters);
      const response = await _send("HEAD", table, parameters, ["count=exact"], options);
      return Number((response.headers.get("content-range") ?? "").split("/")[1]);
    },
    insert: (rows${tsOnly(': unknown')}, query${write} = {}, ${options}) => _insert(table, rows, query, options, []),
    upsert: (rows${tsOnly(': unknown')}, query${write} = {}, ${options}) =>
      _insert(table, rows, query, options, [\`resolution=\${query.ignoreDuplicates === true ? "ignore" : "merge"}-duplicates\`]),
    update: (query${write}, ${options}) => _write("PATCH", table, query, options, query.set),
    delete: (query${write}, ${options}) => _write("DELETE", table, query, options),
  };
}`;
};
