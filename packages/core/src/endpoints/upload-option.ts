import { parseBoolean } from './comment/lexer.ts';

/**
 * The type of an upload option, which decides how its text in a comment is read. A `list` is separated by commas. Text of type `sql`
 * has no templates: a request never changes SQL.
 */
export type UploadOptionType = 'text' | 'boolean' | 'integer' | 'list' | 'sql';

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
export function parseUploadOption({ type, orList }: UploadOptionDefinition, text: string): UploadOptionValue {
  switch (type) {
    case 'text':
    case 'sql':
      return text;
    case 'list':
      return parseList(text);
    case 'integer':
      if (!/^\d{1,15}$/.test(text)) throw new RangeError('takes an integer');
      return Number(text);
    case 'boolean': {
      const value = parseBoolean(text);
      if (value !== null) return value;
      if (orList === true && text !== '') return parseList(text);
      throw new RangeError(orList === true ? 'takes true, false or a list' : 'takes true or false');
    }
  }
}

function parseList(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
