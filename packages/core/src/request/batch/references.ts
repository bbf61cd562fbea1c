import {
  type JsonSlice,
  JsonError,
  readElements,
  readJson,
  readMembers,
  sliceToJson,
  sliceToText,
  truncateKey,
} from '../../http/json-reader.ts';
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
/** A position, and a JSON pointer (RFC 6901) without the position's own slash. */
const pattern = /^(0|[1-9]\d{0,5})((?:\/[^/]*)*)$/;

/** Levels of a body: each one is read again to find the next. */
const maxDepth = 8;

/**
 * Returns the references in a JSON value, in order.
 * @throws Problem `invalid-batch`
 */
export function findReferences(value: JsonSlice, depth = 0): readonly PlacedReference[] {
  // Most values have none.
  if (!sliceToJson(value).includes(`"${key}"`)) return [];
  const reference = readReference(value);
  if (reference !== null) return [{ reference, start: value.start, end: value.end }];
  if (depth === maxDepth) {
    throw invalid(
      `A reference can stand ${maxDepth} levels deep in a body; set "references" to false if "${key}" is data.`,
    );
  }
  const parts =
    value.kind === 'array' ? readElements(value) : value.kind === 'object' ? readMembers(value).values() : [];
  return [...parts].flatMap((part) => findReferences(part, depth + 1));
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
  const match = target.kind === 'string' ? pattern.exec(text) : null;
  if (match === null) {
    throw invalid(
      `${quote(text)} is no reference; write the position of an earlier request and a path in its response, as in {"$ref": "0/id"}, or set "references" to false if the object is data.`,
    );
  }
  const path = match[2]!.split('/').slice(1);
  return { item: Number(match[1]), path: path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')), text };
}

/** Characters of responses that the references of one batch may search: searching blocks other requests. */
const maxSearched = 32 * 1024 * 1024;

/** Finds the values of references in the responses of a batch. */
export class ReferenceResolver {
  readonly #documents = new Map<number, JsonSlice>();
  #searched = 0;

  /**
   * Returns the value that a reference stands for.
   * @param body the JSON text of the response; null for a response without a body
   * @throws Problem `invalid-batch` when the response has no such value, `batch-too-large` for too many references to large responses
   */
  resolve({ item, path, text }: Reference, body: string | null): JsonSlice {
    const document = body === null ? null : (this.#documents.get(item) ?? readBody(body, text));
    if (document !== null) this.#documents.set(item, document);
    let value = document;
    for (const part of path) value = value === null ? null : this.#child(value, part);
    if (value !== null) return value;
    throw invalid(`The response to the earlier request has no value at ${quote(text)}.`);
  }

  #child(value: JsonSlice, part: string): JsonSlice | null {
    this.#searched += value.end - value.start;
    if (this.#searched > maxSearched) {
      throw new Problem('batch-too-large', { detail: 'The batch has too many references to large responses.' });
    }
    if (value.kind === 'object') return readMembers(value).get(part) ?? null;
    if (value.kind !== 'array' || !/^(?:0|[1-9]\d{0,8})$/.test(part)) return null;
    return readElements(value)[Number(part)] ?? null;
  }
}

function readBody(body: string, text: string): JsonSlice {
  try {
    return readJson(body);
  } catch (error) {
    if (!(error instanceof JsonError || error instanceof Problem)) throw error;
    throw invalid(`The response that ${quote(text)} refers to cannot be read: ${error.message}.`);
  }
}

function invalid(detail: string): Problem {
  return new Problem('invalid-batch', { detail });
}

function quote(text: string): string {
  return `"${truncateKey(text)}"`;
}
