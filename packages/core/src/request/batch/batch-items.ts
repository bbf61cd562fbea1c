import { truncateKey } from '../../http/json-reader.ts';
import { type JsonSlice, readElements, readMembers, sliceToText } from '../../http/json-slice.ts';
import { Problem } from '../../http/problem.ts';
import { methods } from '../../endpoints/endpoint.ts';
import { queryMethod } from '../../http/methods.ts';
import {
  findReferences,
  maxReferences,
  type PlacedReference,
  readReference,
  type Reference,
  tooMany,
} from './references.ts';

/** One request of a batch, as the client sent it. */
export interface BatchItem {
  readonly method: string;
  /** Path and query, in pieces; a reference is one percent-encoded part. */
  readonly path: readonly (string | Reference)[];
  /** Null: no body. */
  readonly body: { readonly value: JsonSlice; readonly references: readonly PlacedReference[] } | null;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** The last request that this one refers to; -1 without references. */
  readonly lastReference: number;
}

/** An error of one request of a batch. */
export class ItemError extends Error {
  readonly item: number;

  constructor(item: number, cause: unknown) {
    super('a request of the batch is not valid', { cause });
    this.item = item;
  }
}

const itemMethods: readonly string[] = [...methods, queryMethod];
const memberNames: readonly string[] = ['method', 'path', 'body', 'headers', 'references'];

/**
 * The headers that a request of a batch may have. All others are those of the batch: a proxy or the gateway may have checked them, as those
 * with credentials, origin or identity.
 */
const ownHeaders: ReadonlySet<string> = new Set(['accept-language', 'if-match', 'if-none-match', 'prefer', 'range']);

/**
 * Reads the requests of a batch.
 * @throws Problem `invalid-batch`, `batch-too-large`; ItemError with the problem of a request
 */
export function readBatch(document: JsonSlice | null, maxItems: number): readonly BatchItem[] {
  if (document?.kind !== 'array') {
    throw invalid('The body must be an array of requests, as in [{"method": "GET", "path": "/api/books"}].');
  }
  const elements = readElements(document);
  if (elements.length === 0) throw invalid('The batch has no request.');
  if (elements.length > maxItems) {
    throw new Problem('batch-too-large', {
      detail: `The batch has ${elements.length} requests; the limit is ${maxItems}.`,
    });
  }
  return elements.map((element, index) => {
    try {
      return readItem(element, index);
    } catch (error) {
      throw new ItemError(index, error);
    }
  });
}

function readItem(element: JsonSlice, index: number): BatchItem {
  if (element.kind !== 'object') throw invalid(`The request is a JSON ${element.kind}; send an object.`);
  const members = readMembers(element);
  for (const name of members.keys()) {
    if (!memberNames.includes(name)) {
      throw invalid(`The member "${truncateKey(name)}" is unknown; a request has ${memberNames.join(', ')}.`);
    }
  }
  const takesReferences = readFlag(members.get('references'));
  const path = readPath(members.get('path'), takesReferences);
  const body = readBody(members.get('body'), takesReferences);
  const references = [
    ...path.flatMap((piece) => (typeof piece === 'string' ? [] : [piece])),
    ...(body === null ? [] : body.references.map(({ reference }) => reference)),
  ];
  for (const { item, text } of references) {
    if (item >= index) throw invalid(`"${text}" refers to a request that does not come before this one.`);
  }
  const lastReference = references.reduce((last, { item }) => Math.max(last, item), -1);
  return {
    method: readMethod(members.get('method')),
    path,
    body,
    headers: readHeaders(members.get('headers')),
    lastReference,
  };
}

function readFlag(value: JsonSlice | undefined): boolean {
  if (value === undefined) return true;
  if (value.kind === 'boolean') return sliceToText(value) === 'true';
  throw invalid('"references" must be true or false.');
}

function readMethod(value: JsonSlice | undefined): string {
  const method = value?.kind === 'string' ? sliceToText(value) : '';
  if (itemMethods.includes(method)) return method;
  throw invalid(`"method" must be one of ${itemMethods.join(', ')}.`);
}

function readPath(value: JsonSlice | undefined, takesReferences: boolean): BatchItem['path'] {
  const pieces = value?.kind === 'array' ? readElements(value) : value === undefined ? [] : [value];
  // References and the texts between them.
  if (pieces.length > 2 * maxReferences + 1) throw tooMany('path');
  const path = pieces.map((piece): string | Reference => {
    if (piece.kind === 'string') return sliceToText(piece);
    const reference = takesReferences ? readReference(piece) : null;
    if (reference !== null) return reference;
    throw invalid('"path" must be a text, or an array of texts and references such as {"$ref": "0/id"}.');
  });
  const [first] = path;
  if (typeof first !== 'string' || !first.startsWith('/')) {
    throw invalid('"path" must begin with a slash, as in "/api/books?limit=3".');
  }
  if (path.some((piece) => typeof piece === 'string' && !/^[\u0021-\u007e]*$/.test(piece))) {
    throw invalid('"path" must be percent-encoded: it has a space, a control character or a character beyond ASCII.');
  }
  return path;
}

function readBody(value: JsonSlice | undefined, takesReferences: boolean): BatchItem['body'] {
  if (value === undefined) return null;
  return { value, references: takesReferences ? findReferences(value) : [] };
}

function readHeaders(value: JsonSlice | undefined): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  if (value === undefined) return headers;
  if (value.kind !== 'object') throw invalid('"headers" must be an object of texts.');
  for (const [name, text] of readMembers(value)) {
    const lower = name.toLowerCase();
    if (!ownHeaders.has(lower)) {
      throw new Problem('not-in-batch', {
        detail: `The header "${truncateKey(name)}" cannot be set for one request; possible are ${[...ownHeaders].join(', ')}. Send others with the batch.`,
      });
    }
    if (text.kind !== 'string' || !/^[\u0020-\u007e]*$/.test(sliceToText(text))) {
      throw invalid(`The header "${lower}" must be a text of visible ASCII characters.`);
    }
    headers.set(lower, sliceToText(text));
  }
  return headers;
}

function invalid(detail: string): Problem {
  return new Problem('invalid-batch', { detail });
}
