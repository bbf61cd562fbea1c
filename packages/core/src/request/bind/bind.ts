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
import { bindingError, noMatchingSignature, ambiguousSignature } from './binding-error.ts';
import { textsToJsonArray, type ValueTarget, fieldsToRecord, jsonToValue, textsToValue } from './value.ts';

/** What a call needs: the parameters that were given, in the routine's order, and their values. */
export interface BoundCall<Candidate> {
  readonly candidate: Candidate;
  readonly parameters: readonly EndpointParameter[];
  readonly values: readonly Value[];
}

/**
 * Chooses among the overloads of a routine the one that takes exactly the given keys, and gives its parameters their values.
 * @throws Problem 400 that names each missing and each unknown key, or the signatures on offer
 */
export function bind<Candidate extends { readonly endpoint: Endpoint }>(
  candidates: readonly Candidate[],
  sent: BindInput,
): BoundCall<Candidate> {
  const { candidate, parameters } =
    candidates.length === 1 ? matchOnly(candidates[0]!, sent) : selectOverload(candidates, sent);
  return { candidate, parameters, values: parameters.map((parameter) => valueOf(candidate.endpoint, parameter, sent)) };
}

function matchOnly<Candidate extends { readonly endpoint: Endpoint }>(
  candidate: Candidate,
  sent: BindInput,
): SignatureMatch<Candidate> {
  const fit = matchSignature(candidate, sent);
  if (fit.missing.length === 0 && fit.unknown.length === 0) return fit;
  throw bindingError(fit, sent.input.source);
}

function selectOverload<Candidate extends { readonly endpoint: Endpoint }>(
  candidates: readonly Candidate[],
  sent: BindInput,
): SignatureMatch<Candidate> {
  const fits = candidates
    .map((candidate) => matchSignature(candidate, sent))
    .filter(({ missing, unknown }) => missing.length === 0 && unknown.length === 0)
    .toSorted((a, b) => a.omitted - b.omitted);
  const [best, second] = fits;
  if (best === undefined) throw noMatchingSignature(candidates, [...sent.input.values.keys()]);
  if (second !== undefined && second.omitted === best.omitted) {
    throw ambiguousSignature(fits.filter(({ omitted }) => omitted === best.omitted).map(({ candidate }) => candidate));
  }
  return best;
}

function valueOf(endpoint: Endpoint, parameter: EndpointParameter, sent: BindInput): Value {
  const { queryStringNullHandling } = endpoint;
  if (parameter.inPath)
    return textsToValue(parameter, [readUnkeyedText(endpoint, parameter, sent)!], queryStringNullHandling);
  // The body is text as it stands: an empty one was not sent, and nothing in it means NULL.
  if (!isKeyed(endpoint, parameter)) return readUnkeyedText(endpoint, parameter, sent);
  const value = valueOfKey(parameter, parameter, sent, endpoint);
  if (value !== undefined) return value;
  return fieldsToRecord(parameter, (field) => valueOfKey(field, field, sent, endpoint)!);
}

/** Undefined when the client has not given the key. */
function valueOfKey(
  place: ValueTarget,
  names: { readonly key: string; readonly name: string },
  { input: given }: BindInput,
  { queryStringNullHandling, table }: Endpoint,
): string | null | undefined {
  if (given.source === 'query') {
    const texts = findByName(given.values, names);
    if (texts === undefined) return undefined;
    return place.repeatable === true
      ? textsToJsonArray(place, texts, queryStringNullHandling)
      : textsToValue(place, texts, queryStringNullHandling);
  }
  const slice = findByName(given.values, names);
  if (slice === undefined) return undefined;
  // The texts of a listing are operators with their values.
  return jsonToValue(place, slice, table === null || table.listing !== null ? 'text' : 'value');
}
