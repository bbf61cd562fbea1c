import { parseBoolean } from './comment/lexer.ts';

/**
 * The type of an upload option, which decides how its text in a comment is read. A `list` is separated by commas. Text of type `sql`
 * has no templates: a request never changes SQL. A template in a `path` takes one path component that is safe.
 */
export type UploadOptionType = 'text' | 'path' | 'boolean' | 'integer' | 'list' | 'sql';

/** The value of an upload option; null: not set. */
export type UploadOptionValue = string | boolean | number | readonly string[] | null;

/** The definition of an option of an upload handler. */
export interface UploadOptionDefinition {
  readonly type: UploadOptionType;
  /** The effect, in Markdown sentences, for the reference documentation. */
  readonly description: string;
  readonly default: UploadOptionValue;
  /** Whether a text other than a boolean value is a list: `check_image = true` and `check_image = png, gif`. */
  readonly orList?: true;
  /** Returns what the option takes, as `takes a …`; null if it takes the text. Called at start, and for a text of the request. */
  readonly check?: (text: string) => string | null;
  /**
   * For `sql`: the type OIDs of `$1`, `$2`, … with which the text is prepared at start, so that a mistake is found there; 0 where PostgreSQL
   * derives the type. Null: this text cannot be prepared.
   * @param options the texts of the options of the handler that the comment sets
   */
  readonly parameterTypes?: (text: string, options: Readonly<Record<string, string>>) => readonly number[] | null;
  /** The least integer. Default 0. */
  readonly min?: number;
  /** The greatest integer. */
  readonly max?: number;
  /** The items that a list may have, in lower case. Default: any. */
  readonly items?: readonly string[];
}

/** The definitions of options, by name in snake case. */
export type UploadOptionDefinitions = Readonly<Record<string, UploadOptionDefinition>>;

/** The upload handlers that comments can name. */
export interface EndpointUploadOptions {
  /** The options of each handler, by the name of the handler. */
  readonly handlers: Readonly<Record<string, UploadOptionDefinitions>>;
  /** The handler of comments that name none. */
  readonly defaultHandler: string;
  /** The parameter that receives the metadata without being named in the comment; null: none. */
  readonly metadataParameterName: string | null;
}

/**
 * Parses the text of an option.
 * @throws RangeError that says what the option takes
 */
export function parseUploadOption(definition: UploadOptionDefinition, text: string): UploadOptionValue {
  switch (definition.type) {
    case 'text':
    case 'path':
    case 'sql':
      return parseText(definition, text);
    case 'list':
      return parseList(definition, text, 'takes');
    case 'integer':
      return parseInteger(definition, text);
    case 'boolean': {
      const value = parseBoolean(text);
      if (value !== null) return value;
      if (definition.orList === true && text !== '') return parseList(definition, text, 'takes true, false or');
      throw new RangeError(definition.orList === true ? 'takes true, false or a list' : 'takes true or false');
    }
  }
}

function parseText({ check }: UploadOptionDefinition, text: string): string {
  const fault = check?.(text) ?? null;
  if (fault !== null) throw new RangeError(fault);
  return text;
}

function parseInteger({ min = 0, max = Number.MAX_SAFE_INTEGER }: UploadOptionDefinition, text: string): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (value >= min && value <= max) return value;
  throw new RangeError(
    `takes an integer${max === Number.MAX_SAFE_INTEGER ? ` of at least ${min}` : ` from ${min} to ${max}`}`,
  );
}

function parseList({ items }: UploadOptionDefinition, text: string, takes: string): readonly string[] {
  const list = text.split(/[\s,]+/).filter((item) => item !== '');
  if (list.length === 0) throw new RangeError(`${takes} a list`);
  if (items === undefined) return list;
  const lower = list.map((item) => item.toLowerCase());
  if (lower.every((item) => items.includes(item))) return lower;
  throw new RangeError(`${takes} a list of ${items.join(', ')}`);
}
