/** The conversion of values of a type to JSON; follows the rules of `to_json`. */
export type JsonForm =
  | 'number'
  | 'numberText'
  | 'boolean'
  | 'timestamp'
  | 'timestamptz'
  | 'json'
  | 'string'
  | 'converted';
// 'numberText': a string with the digits of a number; no type of the catalog has it, only endpoints with `largeNumbers`.
// 'converted': arrays, composites and types with a cast to json, for which the statement calls `to_json`.

/** A type in SQL and JSON. A domain has its own name and the properties of its base type. */
export interface TypeFacts {
  /** The quoted and qualified name for SQL, without modifiers: `"pg_catalog"."int4"`. */
  readonly sql: string;
  /** The name for display: `integer`, `character varying(10)`, `library.isbn`. Only fields of composites have modifiers. */
  readonly display: string;
  readonly oid: number;
  /** The OID of the base type of a domain, else `oid`. RowDescription messages contain it. */
  readonly baseOid: number;
  /** `pg_type.typtype` of the base type; arrays are `base`, multiranges are `range`. */
  readonly kind: 'base' | 'composite' | 'enum' | 'range' | 'pseudo';
  readonly json: JsonForm;
  /** True for text, varchar, bpchar, name, string types of extensions (citext) and domains over them: '' is a valid value. */
  readonly textual: boolean;
  /** The name of the base type in pg_catalog when it is built in (`int4`, `jsonb`, `bytea`), else null. */
  readonly builtin: string | null;
  /** The input format for JSON values of a type with its own cast to json: hstore pairs, or JSON text. */
  readonly jsonInput?: 'hstore' | 'json';
  /** The delimiter between elements in array literals of this type; absent: a comma. */
  readonly delimiter?: string;
  /** The element type of an array. */
  readonly element?: TypeFacts;
  /** The quoted and qualified name of the composite type under a domain; absent for other types. */
  readonly rowType?: string;
  /** The fields of a composite type, in order. */
  readonly fields?: readonly Column[];
  /** The labels of an enum, in order. */
  readonly labels?: readonly string[];
  /** Present for a composite type whose comment begins with an HTTP request, and domains over it: an HTTP client type of NpgsqlRest. */
  readonly isRequest?: true;
}

export interface Column {
  readonly name: string;
  readonly type: TypeFacts;
  /** Whether its values are certainly not NULL. Absent: they may be. */
  readonly notNull?: boolean;
}
