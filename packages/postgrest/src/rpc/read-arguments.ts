/** The arguments of a call, and the function that they mean. */
import type { BodyReader, Endpoint, GatewayRequest, Problem, RequestInput } from '@pgway/core';
import { type JsonSlice, parseQueryString, readElements, readJson, readMembers } from '@pgway/core/internal';
import { invalidBody } from '../postgrest-problem.ts';
import { parseJson, readRows, selectRowsFormat } from '../rows-body.ts';
import { parseNames } from '../target.ts';
import { argumentsOf, isArgument, isCallable, queryArguments, wholeBodyParameter } from './arguments.ts';
import { functionNamesOf } from './function-names.ts';
import { ambiguousFunction, hintAtArguments, hintAtName, unknownFunction } from './unknown-function.ts';

/** The values of a request by the names of arguments. */
interface Given {
  readonly values: ReadonlyMap<string, JsonSlice>;
  /** Whether strings are the text of values. */
  readonly hasTexts: boolean;
  /** The body as the value of a parameter without a name; null: it cannot be one. */
  readonly whole: WholeBody | null;
  /** Whether the body has no names of arguments. */
  readonly isValue: boolean;
}

interface WholeBody {
  /** The types of the parameter. */
  readonly types: readonly string[];
  readonly value: JsonSlice;
  readonly isText: boolean;
}

/**
 * Reads the arguments of a call, and selects the function among its overloads.
 * @throws Problem PGRST202 without a function with these arguments, PGRST203 for several, PGRST102 for an invalid body
 */
export async function readArguments(
  request: GatewayRequest,
  endpoints: readonly Endpoint[],
  body: BodyReader,
): Promise<RequestInput> {
  const callable = endpoints.filter(isCallable);
  const isRead = endpoints[0]!.method === 'GET';
  const given = isRead ? readQuery(request, callable) : await readBody(request, callable, body);
  const names = [...given.values.keys()];
  const matching = given.isValue ? [] : callable.filter((endpoint) => takes(endpoint, names));
  if (matching.length === 1) return input(matching[0]!, given);
  if (matching.length > 1) throw ambiguousFunction(matching);
  const { whole } = given;
  const ofBody = callable.filter(
    (endpoint) => whole?.types.includes(wholeBodyParameter(endpoint)?.type.builtin ?? '') === true,
  );
  if (ofBody.length > 1) throw ambiguousFunction(ofBody);
  if (ofBody.length === 0 && given.isValue && !given.hasTexts) {
    throw invalidBody('The arguments must be a JSON object', 'The body is another value');
  }
  if (whole === null || ofBody.length === 0) throw noFunction(endpoints, callable, given);
  const { key } = wholeBodyParameter(ofBody[0]!)!;
  return { source: 'body', values: new Map([[key, whole.value]]), hasTexts: whole.isText, selected: ofBody[0]!.id };
}

function input(endpoint: Endpoint, { values, hasTexts, whole }: Given): RequestInput {
  const selected = endpoint.id;
  // The name "" is that of a parameter without a name: it takes the body.
  const [parameter] = values.has('') && whole !== null ? argumentsOf(endpoint) : [];
  if (parameter === undefined) return { source: 'body', values: byKey(endpoint, values), hasTexts, selected };
  const text = JSON.stringify(whole!.value.text.slice(whole!.value.start, whole!.value.end));
  const isJson = parameter.type.json === 'json';
  return {
    source: 'body',
    values: new Map([[parameter.key, isJson ? whole!.value : readJson(text)]]),
    hasTexts: !isJson,
    selected,
  };
}

function byKey(endpoint: Endpoint, values: Given['values']): Given['values'] {
  const keys = new Map(argumentsOf(endpoint).map(({ name, key }) => [name, key]));
  return new Map([...values].map(([name, value]) => [keys.get(name) ?? name, value]));
}

/** The name of a parameter in calls: one without a name has "". */
function callName({ name, unnamed }: { readonly name: string; readonly unnamed: boolean }): string {
  return unnamed ? '' : name;
}

/** Whether the names are arguments of the function, and none of those without a default is missing. */
function takes(endpoint: Endpoint, names: readonly string[]): boolean {
  const parameters = argumentsOf(endpoint);
  const known = new Set(parameters.map(callName));
  const given = new Set(names);
  return (
    names.every((name) => known.has(name)) &&
    parameters.every((parameter) => parameter.optional || given.has(callName(parameter)))
  );
}

function noFunction(endpoints: readonly Endpoint[], callable: readonly Endpoint[], given: Given): Problem {
  const called = endpoints[0]!;
  const names = given.isValue ? null : [...given.values.keys()].toSorted();
  const wholeType = given.whole === null ? null : describeTypes(given.whole.types);
  const hint =
    names === null
      ? null
      : callable.length === 0
        ? hintAtName(called, functionNamesOf(called))
        : hintAtArguments(called, names, callable);
  return unknownFunction(called, { names, wholeType }, hint);
}

function describeTypes(types: readonly string[]): string {
  return types.join('/');
}

/** GET: parameters of the query string that do not filter the rows. */
function readQuery(request: GatewayRequest, endpoints: readonly Endpoint[]): Given {
  const names = queryArguments(endpoints);
  const texts = [...parseQueryString(request.query)].flatMap(([name, values]) => {
    const own = values.filter((value) => isArgument(name, value, names));
    return own.length === 0 ? [] : [[name, own] as const];
  });
  return { values: textArguments(new Map(texts), endpoints), hasTexts: true, whole: null, isValue: false };
}

/** The types of a parameter without a name that the whole body of a media type is the value of. */
const textBodies: Readonly<Partial<Record<string, string>>> = {
  'text/plain': 'text',
  'text/xml': 'xml',
  'application/xml': 'xml',
  'application/octet-stream': 'bytea',
};

const jsonTypes: readonly string[] = ['json', 'jsonb'];

async function readBody(request: GatewayRequest, endpoints: readonly Endpoint[], body: BodyReader): Promise<Given> {
  const contentType = request.header('content-type');
  const essence = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
  const type = textBodies[essence];
  if (type !== undefined) {
    const value = await readValue(type, body);
    return { values: new Map(), hasTexts: true, whole: { types: [type], value, isText: true }, isValue: true };
  }
  const format = selectRowsFormat(contentType);
  const text = (await body.text()) ?? '';
  const columns = new URLSearchParams(request.query).get('columns');
  const listed = columns === null ? null : new Set(parseNames('columns', columns));
  if (format === 'form') {
    const values = listOnly(textArguments(parseQueryString(text), endpoints), listed);
    return { values, hasTexts: true, whole: null, isValue: false };
  }
  if (format === 'json') return readJsonArguments(text, listed);
  const { json } = await readRows(text, format, { keysMayDiffer: false, isRelated: () => false });
  return { ...readJsonArguments(json, listed), hasTexts: true, whole: null };
}

async function readValue(type: string, body: BodyReader): Promise<JsonSlice> {
  const text = type === 'bytea' ? `\\x${Buffer.from(await body.bytes()).toString('hex')}` : ((await body.text()) ?? '');
  return readJson(JSON.stringify(text));
}

/** Of an array, the first object counts. No body is one without arguments. */
function readJsonArguments(text: string, listed: ReadonlySet<string> | null): Given {
  const isEmpty = text.trim() === '';
  const document = parseJson(isEmpty ? '{}' : text);
  const whole = { types: jsonTypes, value: document, isText: false };
  const first = document.kind === 'array' ? readElements(document)[0] : document;
  if (first === undefined) return { values: new Map(), hasTexts: false, whole, isValue: false };
  const isValue = first.kind !== 'object';
  return { values: isValue ? new Map() : listOnly(readMembers(first), listed), hasTexts: false, whole, isValue };
}

function listOnly(
  values: ReadonlyMap<string, JsonSlice>,
  listed: ReadonlySet<string> | null,
): ReadonlyMap<string, JsonSlice> {
  return listed === null ? values : new Map([...values].filter(([name]) => listed.has(name)));
}

/** Returns the texts of arguments. Of a repeated key, the last one counts, unless its parameter is variadic. */
function textArguments(
  texts: ReadonlyMap<string, readonly string[]>,
  endpoints: readonly Endpoint[],
): ReadonlyMap<string, JsonSlice> {
  const variadic = new Set(
    endpoints.flatMap((endpoint) =>
      argumentsOf(endpoint)
        .filter((parameter) => parameter.variadic)
        .map(({ name }) => name),
    ),
  );
  return new Map(
    [...texts].map(([name, values]) => [name, readJson(JSON.stringify(variadic.has(name) ? values : values.at(-1)!))]),
  );
}
