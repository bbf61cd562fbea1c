import { describeFault, type Path } from '../validation/fault.ts';
import { displayIdentifier } from '../catalog/quote.ts';
import { resolveTypes } from '../catalog/resolve-types.ts';
import type { Routine, RoutineParameter, RoutineResult } from '../catalog/routine.ts';
import type { Column, TypeFacts } from '../catalog/type-facts.ts';
import type { EndpointParameter } from '../endpoints/endpoint.ts';
import { convertQuery } from '../endpoints/statement.ts';
import { type Database, DatabaseError } from '../postgres/port.ts';
import type { QueryBuilder } from '../ports/ports.ts';
import {
  boolean,
  callback,
  nonEmptyString,
  oneOf,
  objectOf,
  type OptionValidators,
  recordOf,
  string,
  union,
  type Validator,
} from '../validation/validators.ts';
import type { EndpointSource } from './endpoint-source.ts';
import { StartError } from './start-error.ts';

/**
 * A type as SQL writes it: `int4`, `text[]`, `library.isbn`. Types that are not PostgreSQL's own need their schema.
 */
export type TypeName = string;

/** A parameter: its type, and whether a request may leave it out. */
export type ParameterDefinition = TypeName | { readonly type: TypeName; readonly optional?: boolean };

/** Columns by name, in the order of the statement. */
export type ColumnDefinitions = Readonly<Record<string, TypeName>>;

/**
 * The result of the query:
 * - a type name: one value
 * - `values`: one column, a value for each row
 * - `row`: the columns of one row
 * - `rows`: the columns of any number of rows
 * - `void`: nothing
 */
export type ResultDefinition =
  | TypeName
  | { readonly values: TypeName }
  | { readonly row: ColumnDefinitions }
  | { readonly rows: ColumnDefinitions };

/** An endpoint whose query the host writes, in place of a routine of the database. */
export interface RoutineDefinition {
  /** Default `public`. The schema need not exist: it is part of the endpoint's name. */
  readonly schema?: string;
  /** The path is made from it, as from the name of a function. */
  readonly name: string;
  /** Annotations, as in the comment of a function. Default `HTTP`. */
  readonly comment?: string;
  readonly parameters?: Readonly<Record<string, ParameterDefinition>>;
  /** Default `void`. */
  readonly returns?: ResultDefinition;
  /** `stable` and `immutable` endpoints are GET by default and may be repeated after a lost connection. Default `volatile`. */
  readonly volatility?: Routine['volatility'];
  /**
   * The SQL of every call, where `$1`, `$2` are the parameters in their order and an omitted one is NULL; or a function that builds the
   * query of each request. The connection is reset after the calls of a function, unless the comment says `connection_reset off`.
   */
  readonly query: string | QueryBuilder;
}

const columns = recordOf(nonEmptyString);

const forms = objectOf({ values: nonEmptyString, row: columns, rows: columns });

const result = {
  ...forms,
  expected: 'an object with values, row or rows',
  validate: (value: unknown, path: Path) => {
    const faults = forms.validate(value, path);
    if (faults.length > 0) return faults;
    const given = Object.entries(value as object);
    if (given.length !== 1) return [{ path, message: 'must have exactly one of values, row and rows' }];
    return given.flatMap(([form, type]) =>
      typeof type === 'object' && Object.keys(type as object).length === 0
        ? [
            {
              path: [...path, form],
              message: 'has no columns',
              hint: 'name them, or use void for a query without a result',
            },
          ]
        : [],
    );
  },
} as unknown as Validator<Exclude<ResultDefinition, TypeName>>;

const definitionValidators: OptionValidators<RoutineDefinition> = {
  schema: nonEmptyString,
  name: nonEmptyString,
  comment: string,
  parameters: recordOf(
    union(
      nonEmptyString,
      objectOf<Exclude<ParameterDefinition, TypeName>>({ type: nonEmptyString, optional: boolean }, ['type']),
    ),
  ),
  returns: union(nonEmptyString, result),
  volatility: oneOf('volatile', 'stable', 'immutable'),
  query: union(nonEmptyString, callback<QueryBuilder>()),
};

const definitionValidator = objectOf(definitionValidators, ['name', 'query']);

/** @throws StartError with one line for each fault */
function validateDefinition(definition: RoutineDefinition): void {
  const faults = definitionValidator.validate(definition, []);
  if (faults.length === 0) return;
  const name: unknown = (definition as Partial<RoutineDefinition> | null | undefined)?.name;
  const label = typeof name === 'string' ? `defineRoutine ${JSON.stringify(name)}` : 'defineRoutine';
  throw new StartError(faults.map((fault) => `${label}: ${describeFault(fault)}`).join('\n'));
}

/**
 * Defines an endpoint by a query of the host, as a source for `routineSources` or `sourcesCreated`. Types are resolved by name when the
 * source is read.
 *
 * @throws StartError for an invalid definition, and when the source is read and a type does not exist
 */
export function defineRoutine(definition: RoutineDefinition): EndpointSource {
  validateDefinition(definition);
  const { schema = 'public', name, parameters = {}, query } = definition;
  const types = Object.values(parameters).map(typeName);
  return Object.freeze({
    name: `${displayIdentifier(schema)}.${displayIdentifier(name)}(${types.join(', ')})`,
    read: async (database: Database) => [await resolveRoutine(database, definition)],
    buildQuery: typeof query === 'string' ? staticQuery(query, types.length) : convertedQuery(query),
  });
}

function typeName(parameter: ParameterDefinition): TypeName {
  return typeof parameter === 'string' ? parameter : parameter.type;
}

/** The statement is prepared once and kept, as its text never changes. */
function staticQuery(query: string, parameterCount: number): QueryBuilder {
  const text = withoutSemicolon(query);
  return ({ endpoint, parameters, values }) => {
    const indexes = Array.from({ length: parameterCount }, (_, index) =>
      parameters.findIndex(({ position }) => position === index + 1),
    );
    return {
      sql: () => convertQuery(endpoint, text),
      statementKey: 'definition',
      values: indexes.map((index) => (index === -1 ? null : values[index]!)),
      valueSources: indexes.map((index): EndpointParameter | null => (index === -1 ? null : parameters[index]!)),
    };
  };
}

function convertedQuery(build: QueryBuilder): QueryBuilder {
  return async (input) => {
    const query = await build(input);
    const { sql } = query;
    return {
      ...query,
      sql: () => convertQuery(input.endpoint, withoutSemicolon(typeof sql === 'string' ? sql : sql())),
    };
  };
}

/** A query that becomes a part of another one must not end with a semicolon. */
function withoutSemicolon(sql: string): string {
  return sql.replace(/[\s;]+$/, '');
}

async function resolveRoutine(database: Database, definition: RoutineDefinition): Promise<Routine> {
  const { schema = 'public', name, comment = 'HTTP', parameters = {}, returns = 'void' } = definition;
  const label = `${displayIdentifier(schema)}.${displayIdentifier(name)}`;
  const names = [...Object.values(parameters).map(typeName), ...resultTypes(returns)];
  const facts = await resolveAll(database, label, names);
  const inputs = Object.entries(parameters).map(([parameter, given], index): RoutineParameter => ({
    name: parameter,
    position: index + 1,
    type: facts(typeName(given)),
    hasDefault: typeof given !== 'string' && given.optional === true,
    variadic: false,
    mode: 'in',
  }));
  const shown = inputs.map((parameter) => `${displayIdentifier(parameter.name!)} ${parameter.type.display}`);
  return {
    kind: 'function',
    schema,
    name,
    parameters: inputs,
    outputs: [],
    result: resolveResult(name, returns, facts),
    volatility: definition.volatility ?? 'volatile',
    strict: false,
    language: 'sql',
    comment,
    signature: `${label}(${shown.join(', ')})`,
    ...(typeof definition.query === 'string' ? { statement: definition.query } : {}),
  };
}

function resultTypes(returns: ResultDefinition): readonly TypeName[] {
  if (returns === 'void') return [];
  if (typeof returns === 'string') return [returns];
  if ('values' in returns) return [returns.values];
  return Object.values('row' in returns ? returns.row : returns.rows);
}

function resolveResult(name: string, returns: ResultDefinition, facts: (type: TypeName) => TypeFacts): RoutineResult {
  if (returns === 'void') return { kind: 'void', set: false, columns: [], named: false, display: 'void' };
  if (typeof returns === 'string' || 'values' in returns) {
    const set = typeof returns !== 'string';
    const type = facts(set ? returns.values : returns);
    const display = set ? `SETOF ${type.display}` : type.display;
    return { kind: 'scalar', set, columns: [{ name, type }], named: false, display };
  }
  const set = 'rows' in returns;
  const columns = Object.entries(set ? returns.rows : returns.row).map(([column, type]): Column => ({
    name: column,
    type: facts(type),
  }));
  const shown = columns.map((column) => `${displayIdentifier(column.name)} ${column.type.display}`);
  return { kind: 'composite', set, columns, named: false, display: `TABLE(${shown.join(', ')})` };
}

/** @throws StartError that names the routine and the type */
async function resolveAll(
  database: Database,
  routine: string,
  names: readonly TypeName[],
): Promise<(name: TypeName) => TypeFacts> {
  const resolved = await resolveTypes(database, names).catch((error: unknown) => {
    if (!(error instanceof DatabaseError)) throw error;
    throw new StartError(`the routine ${routine}: ${error.diagnostics.message}; use type names as SQL writes them`, {
      cause: error,
    });
  });
  return (name) => {
    const type = resolved.get(name) ?? null;
    if (type === null) {
      const hint = name.includes('.')
        ? 'create it, or correct the name'
        : `a type outside pg_catalog needs its schema, such as public.${name}`;
      throw new StartError(`the routine ${routine}: there is no type "${name}"; ${hint}`);
    }
    if (type.kind === 'pseudo')
      throw new StartError(`the routine ${routine}: "${name}" is a pseudo-type; use a type that values can have`);
    return type;
  };
}
