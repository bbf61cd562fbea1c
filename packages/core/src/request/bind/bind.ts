import type { Value } from '../../postgres/port.ts';
import type { Endpoint, EndpointParameter } from '../../endpoints/endpoint.ts';
import {
  readUnkeyedText,
  findByName,
  type SignatureMatch,
  matchSignature,
  isKeyed,
  type BindInput,
} from './signature-match.ts';
import { Problem } from '../../http/problem.ts';
import { checkRules } from './invalid-values.ts';
import { bindingError, noMatchingSignature, ambiguousSignature } from './binding-error.ts';
import {
  slicesToJsonArray,
  textsToJsonArray,
  type ValueTarget,
  fieldsToRecord,
  jsonToValue,
  textsToValue,
} from './value.ts';

/** The parameters and values of one of several rows. */
export type BoundRow = Pick<BoundCall<unknown>, 'parameters' | 'values'>;

/** An endpoint with the parameters of a call, in the routine's order, and their values. */
export interface BoundCall<Candidate> {
  readonly candidate: Candidate;
  readonly parameters: readonly EndpointParameter[];
  readonly values: readonly Value[];
  /** The rows of a request with several, which has no other parameters; absent: it has one. */
  readonly rows?: readonly BoundRow[];
}

/**
 * Selects the overload whose signature matches the given keys, and binds their values to its parameters.
 * @throws Problem 400 that names missing and unknown keys, or the signatures to choose from; InvalidValues
 */
export function bind<Candidate extends { readonly endpoint: Endpoint }>(
  candidates: readonly Candidate[],
  request: BindInput,
): BoundCall<Candidate> {
  const { input } = request;
  if (input.source === 'body' && input.rows !== undefined) return bindRows(candidates[0]!, request, input.rows);
  const offered = selectedBy(request, candidates);
  const { candidate, parameters } =
    offered.length === 1 ? matchOnly(offered[0]!, request) : selectOverload(offered, request);
  const values = parameters.map((parameter) => bindValue(candidate.endpoint, parameter, request));
  checkRules(candidate.endpoint, parameters, values);
  return { candidate, parameters, values };
}

/** Returns the candidate that a dialect has selected, or all of them. The database may have changed since. */
function selectedBy<Candidate extends { readonly endpoint: Endpoint }>(
  { input }: BindInput,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  if (input.source !== 'body' || input.selected === undefined) return candidates;
  const selected = candidates.filter(({ endpoint }) => endpoint.id === input.selected);
  return selected.length === 0 ? candidates : selected;
}

/** @throws as `bind`, with the JSON Pointer of the row */
function bindRows<Candidate extends { readonly endpoint: Endpoint }>(
  candidate: Candidate,
  request: BindInput,
  rows: NonNullable<Extract<BindInput['input'], { source: 'body' }>['rows']>,
): BoundCall<Candidate> {
  const bound = rows.map((values, index): BoundRow => {
    try {
      const row = bind([candidate], { ...request, input: { source: 'body', values } });
      return { parameters: row.parameters, values: row.values };
    } catch (error) {
      throw error instanceof Problem ? error.withMembers({ pointer: `/${index}` }) : error;
    }
  });
  return { candidate, parameters: [], values: [], rows: bound };
}

function matchOnly<Candidate extends { readonly endpoint: Endpoint }>(
  candidate: Candidate,
  request: BindInput,
): SignatureMatch<Candidate> {
  const match = matchSignature(candidate, request);
  if (match.missing.length === 0 && match.unknown.length === 0) return match;
  throw bindingError(match, request.input);
}

function selectOverload<Candidate extends { readonly endpoint: Endpoint }>(
  candidates: readonly Candidate[],
  request: BindInput,
): SignatureMatch<Candidate> {
  const matches = candidates
    .map((candidate) => matchSignature(candidate, request))
    .filter(({ missing, unknown }) => missing.length === 0 && unknown.length === 0)
    .toSorted((a, b) => a.omitted - b.omitted);
  const [best, second] = matches;
  if (best === undefined) throw noMatchingSignature(candidates, [...request.input.values.keys()]);
  if (second !== undefined && second.omitted === best.omitted) {
    throw ambiguousSignature(
      matches.filter(({ omitted }) => omitted === best.omitted).map(({ candidate }) => candidate),
    );
  }
  return best;
}

function bindValue(endpoint: Endpoint, parameter: EndpointParameter, request: BindInput): Value {
  const { queryStringNullHandling } = endpoint;
  if (parameter.inPath)
    return textsToValue(parameter, [readUnkeyedText(endpoint, parameter, request)!], queryStringNullHandling);
  // The body is bound as text: no text in it means NULL, and an empty one is missing.
  if (!isKeyed(endpoint, parameter)) return readUnkeyedText(endpoint, parameter, request);
  const value = bindKey(parameter, parameter, request, endpoint);
  if (value !== undefined) return value;
  return fieldsToRecord(parameter, (field) => bindKey(field, field, request, endpoint)!);
}

/** Undefined when the key is missing. */
function bindKey(
  target: ValueTarget,
  names: { readonly key: string; readonly name: string },
  { input: given }: BindInput,
  { queryStringNullHandling, table, dialect }: Endpoint,
): string | null | undefined {
  if (given.source === 'query') {
    const texts = findByName(given.values, names);
    if (texts === undefined) return undefined;
    return target.repeatable === true
      ? textsToJsonArray(target, texts, queryStringNullHandling)
      : textsToValue(target, texts, queryStringNullHandling);
  }
  const slice = findByName(given.values, names);
  if (slice === undefined) return undefined;
  // For listings, a JSON string is an operator with its value. A dialect says what its strings are.
  const isText = dialect === undefined ? table === null || table.listing !== null : given.hasTexts === true;
  if (target.repeatable === true) return slicesToJsonArray(target, slice);
  return jsonToValue(target, slice, isText ? 'text' : 'value');
}
