/** What the endpoints of a dialect take and return, as data for documents, clients and tools. */
import type { Endpoint, Method } from '../endpoints/endpoint.ts';
import type { NamedType } from '../endpoints/named-type.ts';

/** A value of a request or response. */
export type DescribedValue =
  | { readonly kind: 'type'; readonly type: NamedType; readonly nullable: boolean }
  | {
      readonly kind: 'text';
      /** The only values; absent: any text. */
      readonly values?: readonly string[];
      readonly example?: string;
      readonly nullable?: boolean;
    }
  | { readonly kind: 'integer'; readonly minimum?: number; readonly maximum?: number }
  | { readonly kind: 'list'; readonly items: DescribedValue }
  | { readonly kind: 'oneOf'; readonly values: readonly DescribedValue[] }
  | {
      readonly kind: 'object';
      readonly members: readonly DescribedMember[];
      /** Whether an object may have other members. */
      readonly open?: boolean;
    }
  /** A value that documents describe once, by its name. */
  | { readonly kind: 'shared'; readonly name: string; readonly value: DescribedValue }
  | { readonly kind: 'any' };

/** A member of an object, a parameter, or a header. */
export interface DescribedMember {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  readonly value: DescribedValue;
}

/** A parameter of the query string or a header. */
export interface DescribedParameter extends DescribedMember {
  readonly in: 'query' | 'header';
}

/** Values by media type; the first one is the default. */
export type DescribedContent = Readonly<Record<string, DescribedValue>>;

export interface DescribedResponse {
  /** A status, a class such as `4XX`, or `default`. */
  readonly status: string;
  readonly description: string;
  readonly headers: readonly DescribedMember[];
  readonly content: DescribedContent;
}

/** What a tool of a language model sends and receives: rows of a table. */
export interface DescribedToolCall {
  /** For people and language models; the comment of the table precedes it. */
  readonly description: string;
  /** The parameters of the query string that are arguments. */
  readonly parameters: readonly DescribedMember[];
  /** The argument that is the JSON body; null: none. */
  readonly body: DescribedMember | null;
  /** Headers of every call, with lower-case names. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The list that every call returns. */
  readonly rows: DescribedValue;
}

/** The operation of an endpoint. */
export interface DescribedOperation {
  readonly action: 'select' | 'insert' | 'upsert' | 'update' | 'delete' | 'call';
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly DescribedParameter[];
  readonly body: { readonly required: boolean; readonly content: DescribedContent } | null;
  /** Errors included. */
  readonly responses: readonly DescribedResponse[];
  /** Null: the operation is not a tool. */
  readonly tool: DescribedToolCall | null;
}

export interface DescribedColumn {
  readonly name: string;
  readonly type: NamedType;
  readonly notNull: boolean;
  /** Whether an insert may set the column. */
  readonly writable: boolean;
  /** Whether an insert must set the column. */
  readonly required: boolean;
}

/** A way to select the rows of another table with those of a table. */
export interface DescribedRelation {
  /** Unique among the relations and columns of its table. */
  readonly name: string;
  /** The name in a request, with a hint where the name of the other table has several meanings. */
  readonly selector: string;
  readonly target: { readonly schema: string; readonly name: string };
  /** `optional`: a row or null. */
  readonly rows: 'one' | 'optional' | 'many';
}

/** A table or view with all of its operations. */
export interface DescribedTable {
  readonly schema: string;
  readonly name: string;
  readonly path: string;
  readonly description: string;
  readonly methods: readonly Method[];
  /** What an insert may do with rows that exist. */
  readonly conflictActions: readonly ('merge' | 'ignore')[];
  readonly columns: readonly DescribedColumn[];
  /** Values that only reads have. */
  readonly computed: readonly { readonly name: string; readonly type: NamedType }[];
  readonly relations: readonly DescribedRelation[];
}

/** Returns the description of an endpoint and of its table. */
export interface DialectDescriber {
  /** Null for an endpoint that is itself a document of the dialect: other documents leave it out. */
  describeOperation(endpoint: Endpoint): DescribedOperation | null;
  /** @param endpoints those of the dialect, in the order of their schemas: the first schema has requests that name none */
  describeTables(endpoints: readonly Endpoint[]): readonly DescribedTable[];
}

/** By an object that copies of an endpoint keep. */
const describers = new WeakMap<Endpoint['parameters'], DialectDescriber>();

/** Keeps the describer of the endpoints of a dialect. */
export function keepDescriber(endpoints: readonly Endpoint[], describer: DialectDescriber): void {
  for (const { parameters } of endpoints) describers.set(parameters, describer);
}

/** Returns the description of an endpoint with a dialect; null for other endpoints, and documents of a dialect. */
export function describedOperation(endpoint: Endpoint): DescribedOperation | null {
  return describers.get(endpoint.parameters)?.describeOperation(endpoint) ?? null;
}

/** Returns the tables of all dialects. */
export function describedTables(endpoints: readonly Endpoint[]): readonly DescribedTable[] {
  const byDescriber = new Map<DialectDescriber, Endpoint[]>();
  for (const endpoint of endpoints) {
    const describer = describers.get(endpoint.parameters);
    if (describer === undefined) continue;
    byDescriber.set(describer, [...(byDescriber.get(describer) ?? []), endpoint]);
  }
  return [...byDescriber].flatMap(([describer, own]) => describer.describeTables(own));
}
