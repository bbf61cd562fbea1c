import type { Endpoint, ResultColumn, ResultShape } from '@pgway/core';
import type { TypescriptClientOptions } from './options.ts';
import type { Field } from './request-fields.ts';
import { arrayTypeText, type TypeContext, typeText } from './type-text.ts';

/** How a function reads a response, and what it returns. */
export type FunctionResult =
  | { readonly kind: 'nothing' }
  /** Tokens, or the message of the routine. */
  | { readonly kind: 'login' }
  /** Text; with `noContent`, status 204 means null. */
  | { readonly kind: 'text'; readonly noContent: boolean }
  /** Text of a value of another type; `nullText` means null. */
  | {
      readonly kind: 'scalar';
      readonly form: 'number' | 'bigint' | 'boolean' | 'text';
      readonly type: string;
      readonly nullText: string;
    }
  | { readonly kind: 'bytes'; readonly noContent: boolean }
  /** JSON of this type. */
  | { readonly kind: 'json'; readonly type: string; readonly noContent: boolean }
  /** JSON rows; the interface of their fields gets its name later. */
  | { readonly kind: 'rows'; readonly fields: readonly Field[]; readonly many: boolean; readonly noContent: boolean };

/** Returns how the function of an endpoint reads its response. */
export function functionResult(
  endpoint: Endpoint,
  { defaultJsonType: jsonType, parseBigints }: TypescriptClientOptions,
): FunctionResult {
  const { result, raw, method, textResponseNullHandling, loginOrLogout } = endpoint;
  const context: TypeContext = { position: 'response', jsonType, parseBigints };
  // A response to HEAD has no body.
  if (result.kind === 'nothing' || method === 'HEAD') return { kind: 'nothing' };
  if (loginOrLogout !== null) return { kind: loginOrLogout.kind === 'login' ? 'login' : 'nothing' };
  if (raw !== null) return { kind: 'text', noContent: false };
  switch (result.kind) {
    case 'value':
      return valueResult(result, textResponseNullHandling, context);
    case 'values':
      return { kind: 'json', type: valuesText(result.column, context), noContent: false };
    case 'record':
      return { kind: 'json', type: '(string | null)[]', noContent: true };
    case 'records':
      return { kind: 'json', type: '(string | null)[][]', noContent: false };
    case 'object':
      return {
        kind: 'rows',
        fields: rowFields(result.columns, context),
        many: false,
        noContent: result.nullable,
      };
    case 'objects':
      return { kind: 'rows', fields: rowFields(result.columns, context), many: true, noContent: false };
  }
}

function valuesText({ type, notNull }: ResultColumn, context: TypeContext): string {
  const text = typeText(type, context);
  return notNull === true ? arrayTypeText(text) : `(${text} | null)[]`;
}

function valueResult(
  { column, media }: Extract<ResultShape, { readonly kind: 'value' }>,
  textNull: Endpoint['textResponseNullHandling'],
  context: TypeContext,
): FunctionResult {
  const { type } = column;
  const noContent = textNull === 'noContent';
  if (media === 'json') return { kind: 'json', type: `${typeText(type, context)} | null`, noContent: false };
  if (media === 'bytes') return { kind: 'bytes', noContent };
  // For text types, an empty text and the text NULL are values.
  if (type.textual) return { kind: 'text', noContent };
  const nullText = textNull === 'nullLiteral' ? 'NULL' : '';
  switch (type.json) {
    case 'number':
    case 'boolean':
      return { kind: 'scalar', form: type.json, type: type.json, nullText };
    case 'numberText': {
      const text = typeText(type, context);
      return { kind: 'scalar', form: text === 'bigint' ? text : 'text', type: text, nullText };
    }
    default:
      // A scalar response is text, also for types that are JSON inside rows.
      return {
        kind: 'scalar',
        form: 'text',
        type: type.labels === undefined ? 'string' : typeText(type, context),
        nullText,
      };
  }
}

/** Returns the fields of rows. */
function rowFields(columns: readonly ResultColumn[], context: TypeContext): readonly Field[] {
  // JSON parsers keep the last of equal keys.
  const last = new Map(columns.map((column) => [column.key, column]));
  return [...last.values()].map(({ key, type, notNull }) => ({
    key,
    type: `${typeText(type, context)}${notNull === true ? '' : ' | null'}`,
    optional: false,
    display: type.display,
  }));
}
