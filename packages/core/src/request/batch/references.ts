import { truncateKey } from '../../http/json-reader.ts';
import {
  documentSlice,
  type JsonSlice,
  readElements,
  readMembers,
  sliceToJson,
  sliceToText,
  visitChildren,
} from '../../http/json-slice.ts';
import { Problem } from '../../http/problem.ts';

/** A value in the response to an earlier request of the batch: `{"$ref": "0/id"}`. */
export interface Reference {
  /** The position of the earlier request. */
  readonly item: number;
  /** The keys and indexes to the value; empty for the whole body. */
  readonly path: readonly string[];
  /** As written in the request, for messages. */
  readonly text: string;
}

/** A reference in the body of a request, and its position in the text of the batch. */
export interface PlacedReference {
  readonly reference: Reference;
  readonly start: number;
  readonly end: number;
}

const key = '$ref';
const quotedKey = `"${key}"`;
/** A position, and a JSON pointer (RFC 6901) without the position's own slash. */
const pattern = /^(0|[1-9]\d{0,5})((?:\/[^/]*)*)$/;

/** Levels of a body: each one is read again to find the next. */
const maxDepth = 8;
/** References of one request, in its path and in its body each: reading them blocks other requests. */
export const maxReferences = 1_000;
/** Characters of a reference. */
const maxTextLength = 1_000;

/**
 * Returns the references in a body, in order.
 * @throws Problem `invalid-batch`, `batch-too-large`
 */
export function findReferences(body: JsonSlice): readonly PlacedReference[] {
  if (hasTooMany(sliceToJson(body))) throw tooMany('body');
  return findWithin(body, 0);
}

/** Returns the problem of a path or body with too many references. */
export function tooMany(part: 'path' | 'body'): Problem {
  return new Problem('batch-too-large', {
    detail: `The ${part} has more than ${maxReferences} references; use fewer, or a request for all of the values.`,
  });
}

function hasTooMany(json: string): boolean {
  let count = 0;
  for (let at = json.indexOf(quotedKey); at !== -1; at = json.indexOf(quotedKey, at + quotedKey.length))
    if (++count > maxReferences) return true;
  return false;
}

function findWithin(value: JsonSlice, depth: number): readonly PlacedReference[] {
  // Most values have none.
  if (!sliceToJson(value).includes(quotedKey)) return [];
  const reference = readReference(value);
  if (reference !== null) return [{ reference, start: value.start, end: value.end }];
  if (depth === maxDepth) {
    throw invalid(
      `A reference can stand ${maxDepth} levels deep in a body; set "references" to false if "${key}" is data.`,
    );
  }
  const parts =
    value.kind === 'array' ? readElements(value) : value.kind === 'object' ? readMembers(value).values() : [];
  return [...parts].flatMap((part) => findWithin(part, depth + 1));
}

/**
 * Returns the reference that the object stands for; null for another value.
 * @throws Problem `invalid-batch`
 */
export function readReference(value: JsonSlice): Reference | null {
  if (value.kind !== 'object') return null;
  const members = readMembers(value);
  const target = members.get(key);
  if (target === undefined || members.size > 1) return null;
  const text = sliceToText(target);
  const match = target.kind === 'string' && text.length <= maxTextLength ? pattern.exec(text) : null;
  if (match === null) {
    throw invalid(
      `${quote(text)} is not a reference; write the position of an earlier request and a path in its response, as in {"$ref": "0/id"}, or set "references" to false if the object is data.`,
    );
  }
  const path = match[2]!.split('/').slice(1);
  return { item: Number(match[1]), path: path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')), text };
}

/** Characters of responses that the references of one batch may search: searching blocks other requests. */
const maxSearched = 16 * 1024 * 1024;

/** Finds the values of references in the responses of a batch. */
export class ReferenceResolver {
  readonly #documents = new Map<number, JsonSlice | null>();
  /** By text of the reference. */
  readonly #values = new Map<string, JsonSlice>();
  #searched = 0;

  /**
   * Returns the value that a reference stands for.
   * @param bodyOf returns the JSON text of a response; null for a response without a body
   * @throws Problem `invalid-batch` when the response has no such value, `batch-too-large` for too many references to large responses
   */
  resolve({ item, path, text }: Reference, bodyOf: (item: number) => string | null): JsonSlice {
    const known = this.#values.get(text);
    if (known !== undefined) return known;
    let value = this.#document(item, bodyOf);
    for (const part of path) value = value === null ? null : this.#child(value, part);
    if (value === null) throw invalid(`The response to the earlier request has no value at ${quote(text)}.`);
    this.#values.set(text, value);
    return value;
  }

  #document(item: number, bodyOf: (item: number) => string | null): JsonSlice | null {
    const known = this.#documents.get(item);
    if (known !== undefined) return known;
    const body = bodyOf(item);
    const document = body === null ? null : documentSlice(body);
    this.#documents.set(item, document);
    return document;
  }

  #child(value: JsonSlice, part: string): JsonSlice | null {
    const index = value.kind === 'array' && /^(?:0|[1-9]\d{0,8})$/.test(part) ? Number(part) : null;
    if (index === null && value.kind !== 'object') return null;
    let child: JsonSlice | null = null;
    let position = 0;
    const end = visitChildren(value, (key, each) => {
      if (index === null ? key === part : position++ === index) child = each;
      // Of equal keys, the last one counts.
      return index === null || child === null;
    });
    this.#searched += end - value.start;
    if (this.#searched <= maxSearched) return child;
    throw new Problem('batch-too-large', { detail: 'The batch has too many references to large responses.' });
  }
}

function invalid(detail: string): Problem {
  return new Problem('invalid-batch', { detail });
}

function quote(text: string): string {
  return `"${truncateKey(text)}"`;
}
