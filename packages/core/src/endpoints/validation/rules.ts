/** A condition on the value of a parameter. */
export interface ValidationRule {
  readonly kind: 'required' | 'notNull' | 'notEmpty' | 'minLength' | 'maxLength' | 'email' | 'pattern';
  /** The number of characters of a length. */
  readonly length?: number;
  /** The regular expression of a pattern. */
  readonly pattern?: string;
  /** The text of the error; absent: that of the gateway. */
  readonly message?: string;
}

/** The rules that need an argument or none, by their word in comments. */
export const builtInRules: ReadonlyMap<string, ValidationRule['kind']> = new Map([
  ['required', 'required'],
  ['not_null', 'notNull'],
  ['not_empty', 'notEmpty'],
  ['email', 'email'],
  ['pattern', 'pattern'],
  ['min_length', 'minLength'],
  ['max_length', 'maxLength'],
]);

/** The conditions on texts; the others apply to every type. */
export const textRules: ReadonlySet<ValidationRule['kind']> = new Set(['minLength', 'maxLength', 'email', 'pattern']);

/** The maximum of a length. */
export const maxTextLength = 1_000_000;

/** Characters. A longer text does not match any pattern: matching blocks other requests for as long as it takes. */
export const maxMatchedLength = 10_000;

/** As browsers check `<input type="email">`, with a domain of several labels. */
export const emailPattern: string = [
  "^[a-zA-Z0-9.!#$%&'*+\\/=?^_`\\{\\|\\}~\\-]{1,64}@",
  '(?:[a-zA-Z0-9](?:[a-zA-Z0-9\\-]{0,61}[a-zA-Z0-9])?\\.)+',
  '[a-zA-Z0-9](?:[a-zA-Z0-9\\-]{0,61}[a-zA-Z0-9])?$',
].join('');
