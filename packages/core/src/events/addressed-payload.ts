import type { EventScope } from '../endpoints/endpoint.ts';
import { parseEventScope, parseScopeText } from '../endpoints/event-scope.ts';
import { JsonError, readJson } from '../http/json-reader.ts';
import { type JsonSlice, readElements, readMembers, sliceToJson, sliceToText } from '../http/json-slice.ts';

/** The member of a payload that selects the receivers of its event. */
const scopeMember = 'info_scope';

/** A payload of NOTIFY: the message of the event, and who receives it. */
export interface AddressedPayload {
  readonly message: string;
  /**
   * - a scope: the payload has the member `info_scope`, which the message does not have
   * - null: the payload does not select its receivers
   * - a text: the member is not a scope, and no subscriber may receive the event
   */
  readonly scope: EventScope | string | null;
}

/** Reads the payload of a notification. A JSON object may have `info_scope`, with the words of the annotation. */
export function readPayload(payload: string): AddressedPayload {
  const members = payload.includes(scopeMember) ? readObject(payload) : null;
  const address = members?.get(scopeMember);
  if (members === null || address === undefined) return { message: payload, scope: null };
  const others = [...members].filter(([key]) => key !== scopeMember);
  const message = `{${others.map(([key, value]) => `${JSON.stringify(key)}:${sliceToJson(value)}`).join(',')}}`;
  return { message, scope: readScope(address) ?? sliceToText(address) };
}

/** Reads words in a text, or a list of words, which may have spaces: `["authorize", "user:Ada Lovelace"]`. */
function readScope(address: JsonSlice): EventScope | null {
  if (address.kind === 'string') return parseScopeText(sliceToText(address));
  if (address.kind !== 'array') return null;
  const words = readElements(address);
  return words.every(({ kind }) => kind === 'string') ? parseEventScope(words.map(sliceToText)) : null;
}

/** Null for other payloads than a JSON object. */
function readObject(text: string): ReadonlyMap<string, JsonSlice> | null {
  try {
    const document = readJson(text);
    return document.kind === 'object' ? readMembers(document) : null;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return null;
  }
}
