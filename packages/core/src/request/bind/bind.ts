import type { Value } from '../../postgres/port.ts';
import type { Endpoint, EndpointParameter } from '../../endpoints/endpoint.ts';
import { apart, findByName, type Fit, fitOf, isKeyed, type Sent } from './signature-match.ts';
import { misfit, noneFits, severalFit } from './binding-error.ts';
import { listOfTexts, type Place, recordOfFields, valueOfJson, valueOfTexts } from './value.ts';

/** What a call needs: the parameters that were given, in the routine's order, and their values. */
export interface Bound<Candidate> {
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
  sent: Sent,
): Bound<Candidate> {
  const { candidate, parameters } = candidates.length === 1 ? onlyFit(candidates[0]!, sent) : bestFit(candidates, sent);
  return { candidate, parameters, values: parameters.map((parameter) => valueOf(candidate.endpoint, parameter, sent)) };
}

function onlyFit<Candidate extends { readonly endpoint: Endpoint }>(candidate: Candidate, sent: Sent): Fit<Candidate> {
  const fit = fitOf(candidate, sent);
  if (fit.missing.length === 0 && fit.unknown.length === 0) return fit;
  throw misfit(fit, sent.given.source);
}

function bestFit<Candidate extends { readonly endpoint: Endpoint }>(
  candidates: readonly Candidate[],
  sent: Sent,
): Fit<Candidate> {
  const fits = candidates
    .map((candidate) => fitOf(candidate, sent))
    .filter(({ missing, unknown }) => missing.length === 0 && unknown.length === 0)
    .toSorted((a, b) => a.omitted - b.omitted);
  const [best, second] = fits;
  if (best === undefined) throw noneFits(candidates, [...sent.given.values.keys()]);
  if (second !== undefined && second.omitted === best.omitted) {
    throw severalFit(fits.filter(({ omitted }) => omitted === best.omitted).map(({ candidate }) => candidate));
  }
  return best;
}

function valueOf(endpoint: Endpoint, parameter: EndpointParameter, sent: Sent): Value {
  const { queryNull } = endpoint;
  if (parameter.inPath) return valueOfTexts(parameter, [apart(endpoint, parameter, sent)!], queryNull);
  // The body is text as it stands: an empty one was not sent, and nothing in it means NULL.
  if (!isKeyed(endpoint, parameter)) return apart(endpoint, parameter, sent);
  const value = valueOfKey(parameter, parameter, sent, endpoint);
  if (value !== undefined) return value;
  return recordOfFields(parameter, (field) => valueOfKey(field, field, sent, endpoint)!);
}

/** Undefined when the client has not given the key. */
function valueOfKey(
  place: Place,
  names: { readonly key: string; readonly name: string },
  { given }: Sent,
  { queryNull, table }: Endpoint,
): string | null | undefined {
  if (given.source === 'query') {
    const texts = findByName(given.values, names);
    if (texts === undefined) return undefined;
    return place.several === true ? listOfTexts(place, texts, queryNull) : valueOfTexts(place, texts, queryNull);
  }
  const slice = findByName(given.values, names);
  if (slice === undefined) return undefined;
  // The texts of a listing are operators with their values.
  return valueOfJson(place, slice, table === null || table.listing !== null ? 'text' : 'value');
}
