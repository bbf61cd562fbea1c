import type { Endpoint } from '@pgway/core';
import type { CommentHeader } from '../generated-file.ts';
import { escapeLine, escapeLines } from '../source-text.ts';

/** The options of comments. */
export interface CommentOptions {
  readonly commentHeader: CommentHeader;
  readonly commentHeaderIncludeComments: boolean;
}

/** A client function, for its comment. */
export interface FunctionDescription {
  readonly endpoint: Endpoint;
  /** The members of the request. */
  readonly parameters: readonly { readonly key: string; readonly display: string; readonly optional: boolean }[];
  /** The TypeScript type of the result. */
  readonly result: string;
}

/** Returns the JSDoc block of a function; no lines for `commentHeader: 'none'`. */
export function commentBlock(
  { endpoint, parameters, result }: FunctionDescription,
  options: CommentOptions,
): readonly string[] {
  if (options.commentHeader === 'none') return [];
  const { id, description, method, path, kind, schema, name, authorization } = endpoint;
  const { required, roles } = authorization;
  const routine = (options.commentHeader === 'full' ? endpoint.definition : undefined) ?? id;
  const prose = options.commentHeaderIncludeComments && description !== '' ? ['', ...escapeLines(description)] : [];
  const lines = [
    ...escapeLines(routine.trim()),
    ...prose,
    ...(required
      ? ['', roles.length === 0 ? 'For signed-in callers.' : `For ${roles.map(escapeLine).join(', ')}.`]
      : []),
    '',
    ...parameters.map(({ key, display, optional }) =>
      escapeLine(`@param request.${key} - ${display}${optional ? ', may be left out' : ''}`),
    ),
    escapeLine(`@returns {${result}}`),
    escapeLine(`@remarks ${method} ${path}`),
    escapeLine(`@see ${kind.toUpperCase()} ${schema}.${name}`),
  ];
  return ['/**', ...lines.map((line) => ` * ${escapeComment(line)}`.trimEnd()), ' */'];
}

/** Escapes the ends of a comment and of a `<script>`. */
export function escapeComment(line: string): string {
  return line.replaceAll('*/', String.raw`*\/`).replaceAll(/<(?=\/script|!--)/gi, '<\\');
}
