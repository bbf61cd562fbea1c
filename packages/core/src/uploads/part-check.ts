import type { EventEmitter } from 'node:events';
import type { Busboy } from '@fastify/busboy';

/** Bytes of the headers of one part; a file name may have 4 kB. */
const maxPartHeaders = 16 * 1024;
const maxHeaderPairs = 100;

/** The limits of the parser. It cuts off what is longer: such headers exceed the limit of a part. */
export const headerLimits: Readonly<Record<'headerSize' | 'headerPairs', number>> = {
  headerSize: 2 * maxPartHeaders,
  headerPairs: maxHeaderPairs + 1,
};

/** The parser of the parts, which the parser of the form has as a member. It announces each part, and then its headers. */
interface InnerParser {
  readonly _parser: { readonly parser: EventEmitter };
}

type PartHeaders = Readonly<Record<string, readonly string[]>>;

/** Finds parts that the parser of a form leaves out without an event: their headers are not those of a file or field. */
export class PartCheck {
  #parts = 0;
  #accepted = 0;

  /** Called for each part that the parser does not leave out. */
  accept(): void {
    this.#accepted++;
  }

  /** @param fail called with what is wrong with the headers of a part */
  observe(parser: InstanceType<typeof Busboy>, fail: (error: Error) => void): void {
    const { parser: inner } = (parser as unknown as InnerParser)._parser;
    inner.on('part', (part: EventEmitter) => {
      const before = this.#accepted;
      this.#parts++;
      // After the listener of the parser, which accepts the part.
      part.on('header', (headers: PartHeaders) => {
        if (isTooLarge(headers)) fail(new Error(`The headers of a part are larger than ${maxPartHeaders} bytes`));
        else if (this.#accepted === before) fail(unusable());
      });
    });
  }

  /** Returns what is wrong at the end of the form, null for nothing: the headers of a part may have no end. */
  findFault(): Error | null {
    return this.#accepted < this.#parts ? unusable() : null;
  }
}

function isTooLarge(headers: PartHeaders): boolean {
  let size = 0;
  let pairs = 0;
  for (const [name, values] of Object.entries(headers)) {
    pairs += values.length;
    for (const value of values) size += name.length + value.length;
  }
  return size > maxPartHeaders || pairs > maxHeaderPairs;
}

function unusable(): Error {
  return new Error('A part has no valid header "Content-Disposition: form-data"');
}
