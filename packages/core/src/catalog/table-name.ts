/** The name of a table or view. */
export interface TableName {
  readonly schema: string;
  readonly name: string;
}

/** Returns the same text for the same table or view only. */
export function tableKey({ schema, name }: TableName): string {
  return JSON.stringify([schema, name]);
}

/** Reads `name` and `schema.name`. @param schema that of a name without one */
export function parseTableName(written: string, schema: string): TableName {
  const dot = written.indexOf('.');
  return dot === -1 ? { schema, name: written } : { schema: written.slice(0, dot), name: written.slice(dot + 1) };
}
