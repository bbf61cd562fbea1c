import { documentSlice, type JsonSlice, readElements, readMembers, sliceToJson } from '../../http/json-slice.ts';

/** The bodies in the stored response to a batch, which references of a repeated batch mean. */
export class StoredBodies {
  readonly #text: string;
  #results: readonly JsonSlice[] | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the JSON text of the body of a response. */
  at(item: number): string | null {
    this.#results ??= readElements(documentSlice(this.#text));
    const body = readMembers(this.#results[item]!).get('body');
    return body === undefined ? null : sliceToJson(body);
  }
}
