import type { Statement } from '../database/port.ts';
import { Problem } from '../http/problem.ts';
import type { Endpoint, EndpointParameter } from '../plan/endpoint.ts';
import { callStatement, neededAsWell, resultColumns } from '../plan/statement.ts';
import { Pace } from './pace.ts';
import type { CommandMaker } from './ports.ts';
import { type Format, formatOf, otherFormats } from './respond/format.ts';
import { type HeadWriter, headWriter } from './respond/head.ts';
import { negotiate, type RowMedia } from './respond/negotiate.ts';

/** A client may choose which defaults it omits; past this many choices a statement is made for one call only. */
const mostStatements = 200;

let statements = 0;

/** How an answer goes out: its body, and what stands before it. */
export interface Rendering {
  readonly format: Format;
  readonly head: HeadWriter;
}

/** An endpoint with what is made of it once, at start, for the requests to use. */
export class Operation {
  readonly endpoint: Endpoint;
  /** Makes the command of each request, where the endpoint's source wants that. */
  readonly make: CommandMaker | null;
  readonly pace: Pace = new Pace();
  readonly #plain: Rendering;
  /** What a client may ask for instead. */
  readonly #others: Readonly<Partial<Record<RowMedia, Rendering>>>;
  readonly #columns: Statement['columns'];
  readonly #statements = new Map<string, Statement>();
  /** The call with every parameter given: the one that is asked for most. */
  readonly #whole: Statement;

  constructor(endpoint: Endpoint, make: CommandMaker | null = null) {
    this.endpoint = endpoint;
    this.make = make;
    const others = Object.entries(otherFormats(endpoint));
    this.#plain = renderingOf(endpoint, formatOf(endpoint), others.length > 0);
    this.#others = Object.fromEntries(others.map(([media, format]) => [media, renderingOf(endpoint, format, true)]));
    this.#columns = resultColumns(endpoint);
    this.#whole = this.#make(endpoint.parameters, true);
  }

  /** The form that the client prefers among those on offer. */
  rendering(accept: string | undefined): Rendering {
    return this.#others[negotiate(accept)] ?? this.#plain;
  }

  /**
   * The statement that calls the routine with these of its parameters.
   * @throws Problem `missing-parameter` for a gap before an unnamed one, which can only be given by its place
   */
  statement(given: readonly EndpointParameter[]): Statement {
    if (given.length === this.endpoint.parameters.length) return this.#whole;
    const key = given.map(({ position }) => position).join();
    const known = this.#statements.get(key);
    if (known !== undefined) return known;
    const needed = neededAsWell(this.endpoint, given);
    if (needed !== null) throw gapBefore(needed);
    const keep = this.#statements.size < mostStatements;
    const statement = this.#make(given, keep);
    if (keep) this.#statements.set(key, statement);
    return statement;
  }

  /** What a statement of this endpoint has to give. */
  get expectedColumns(): Pick<Statement, 'columns'> {
    return this.#columns === undefined ? {} : { columns: this.#columns };
  }

  #make(given: readonly EndpointParameter[], keep: boolean): Statement {
    return {
      sql: callStatement(this.endpoint, given),
      name: keep ? `pgway_${++statements}` : '',
      ...this.expectedColumns,
    };
  }
}

function gapBefore({ key, type }: EndpointParameter): Problem {
  return new Problem('missing-parameter', {
    detail: `"${key}" (${type.display}) is needed too: a later parameter without a name can only be given after it.`,
    members: { missing: [key] },
  });
}

function renderingOf(endpoint: Endpoint, format: Format, negotiable: boolean): Rendering {
  return { format, head: headWriter(endpoint, format.contentType, negotiable) };
}
