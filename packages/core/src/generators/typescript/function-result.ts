import type { ResultShape, ResultColumn, Endpoint } from '../../endpoints/endpoint.ts';
import type { Field } from './request-fields.ts';
import { type TypeContext, typeText } from './type-text.ts';

/** How a function reads an answer, and what it gives. */
export type FunctionResult =
  | { readonly kind: 'nothing' }
  /** What signing in gives: tokens, or the message of the routine. */
  | { readonly kind: 'signIn' }
  /** Text; `noContent`: an answer without content is null. */
  | { readonly kind: 'text'; readonly noContent: boolean }
  /** Text that is a value of some other type, or null where it is `nullText`. */
  | {
      readonly kind: 'scalar';
      readonly form: 'number' | 'boolean' | 'text';
      readonly type: string;
      readonly nullText: string;
    }
  | { readonly kind: 'bytes'; readonly noContent: boolean }
  /** JSON of this type; `noContent`: an answer without content is null. */
  | { readonly kind: 'json'; readonly type: string; readonly noContent: boolean }
  /** JSON rows of an interface, which is named by whoever knows the others. */
  | { readonly kind: 'rows'; readonly fields: readonly Field[]; readonly many: boolean; readonly noContent: boolean };

/** What the answer of an endpoint is to its caller. */
export function functionResult(endpoint: Endpoint, jsonType: string): FunctionResult {
  const { result: answer, raw, method, textResponseNullHandling, signIn } = endpoint;
  const manner: TypeContext = { side: 'response', jsonType };
  // HEAD has no body, whatever the answer would be.
  if (answer.kind === 'nothing' || method === 'HEAD') return { kind: 'nothing' };
  if (signIn !== null) return { kind: signIn.kind === 'login' ? 'signIn' : 'nothing' };
  if (raw !== null) return { kind: 'text', noContent: false };
  switch (answer.kind) {
    case 'value':
      return valueResult(answer, textResponseNullHandling, manner);
    case 'values':
      return { kind: 'json', type: `(${typeText(answer.column.type, manner)} | null)[]`, noContent: false };
    case 'record':
      return { kind: 'json', type: '(string | null)[]', noContent: true };
    case 'records':
      return { kind: 'json', type: '(string | null)[][]', noContent: false };
    case 'object':
      return {
        kind: 'rows',
        fields: rowFields(endpoint, answer.columns, manner),
        many: false,
        noContent: answer.nullable,
      };
    case 'objects':
      return { kind: 'rows', fields: rowFields(endpoint, answer.columns, manner), many: true, noContent: false };
  }
}

function valueResult(
  { column, media }: Extract<ResultShape, { readonly kind: 'value' }>,
  textNull: Endpoint['textResponseNullHandling'],
  manner: TypeContext,
): FunctionResult {
  const { type } = column;
  const noContent = textNull === 'noContent';
  if (media === 'json') return { kind: 'json', type: `${typeText(type, manner)} | null`, noContent: false };
  if (media === 'bytes') return { kind: 'bytes', noContent };
  // An empty text, or the text NULL, may be a value of its own.
  if (type.textual) return { kind: 'text', noContent };
  const nullText = textNull === 'nullLiteral' ? 'NULL' : '';
  switch (type.json) {
    case 'number':
    case 'boolean':
      return { kind: 'scalar', form: type.json, type: type.json, nullText };
    default:
      // What stands alone is text, also of types that are JSON inside of something.
      return {
        kind: 'scalar',
        form: 'text',
        type: type.labels === undefined ? 'string' : typeText(type, manner),
        nullText,
      };
  }
}

/** Only what the rows of a table are made of is known not to be NULL. */
function rowFields({ table }: Endpoint, columns: readonly ResultColumn[], manner: TypeContext): readonly Field[] {
  const notNull = new Set(table?.columns.flatMap((column) => (column.notNull ? [column.name] : [])));
  // Of a key that rows have twice, the last value is what a client reads.
  const last = new Map(columns.map((column) => [column.key, column]));
  return [...last.values()].map(({ name, parentColumn, key, type }) => ({
    key,
    type: `${typeText(type, manner)}${parentColumn === undefined && notNull.has(name) ? '' : ' | null'}`,
    optional: false,
    display: type.display,
  }));
}
