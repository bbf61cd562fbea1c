/** How a type's text becomes JSON; decided by the type alone, the way PostgreSQL's own `to_json` decides. */
export type JsonForm = 'number' | 'boolean' | 'timestamp' | 'timestamptz' | 'json' | 'string' | 'converted';
// 'converted': arrays, composites and whatever has a cast to json: the statement asks PostgreSQL for `to_json` of it.

/** A type as it is written in SQL and as it becomes JSON. Domains are described by their base type but named as themselves. */
export interface TypeFacts {
  /** Quoted and qualified, without modifiers, safe to stand in SQL: `"pg_catalog"."int4"`. */
  readonly sql: string;
  /** For people: `integer`, `character varying(10)`, `library.isbn`. Fields of composites alone have modifiers. */
  readonly display: string;
  readonly oid: number;
  /** The OID under a chain of domains, else the same as `oid`: PostgreSQL describes result columns by it. */
  readonly baseOid: number;
  /** `pg_type.typtype` after domains are resolved; arrays are `base`, multiranges are `range`. */
  readonly kind: 'base' | 'composite' | 'enum' | 'range' | 'pseudo';
  readonly json: JsonForm;
  /** True for text, varchar, bpchar, name, string types of extensions (citext) and domains over them: '' is a value of it. */
  readonly textual: boolean;
  /** The name of the resolved type in pg_catalog when it is one of PostgreSQL's own (`int4`, `jsonb`, `bytea`), else null. */
  readonly builtin: string | null;
  /** Of a type with a cast to json of its own: what its input function takes of that JSON, pairs as hstore writes them or JSON itself. */
  readonly jsonInput?: 'hstore' | 'json';
  /** What stands between elements in the text of an array of this type; absent: a comma. */
  readonly delimiter?: string;
  /** The element type of an array. */
  readonly element?: TypeFacts;
  /** The fields of a composite type, in order. */
  readonly fields?: readonly Column[];
  /** The labels of an enum, in order. */
  readonly labels?: readonly string[];
}

export interface Column {
  readonly name: string;
  readonly type: TypeFacts;
}
