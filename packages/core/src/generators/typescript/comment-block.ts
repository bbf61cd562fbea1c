import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { CommentHeader } from '../generated-file.ts';
import { escapeLine, escapeLines } from '../source-text.ts';

export interface CommentOptions {
  readonly commentHeader: CommentHeader;
  readonly commentHeaderIncludeComments: boolean;
}

export interface FunctionDescription {
  readonly endpoint: Endpoint;
  /** The members that a caller gives. */
  readonly parameters: readonly { readonly key: string; readonly display: string; readonly optional: boolean }[];
  /** The TypeScript type of the result. */
  readonly result: string;
}

/** The block above a function; empty where none is wanted. */
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

/** What would end the comment, or the script around it, does not. */
export function escapeComment(line: string): string {
  return line.replaceAll('*/', String.raw`*\/`).replaceAll(/<(?=\/script|!--)/gi, '<\\');
}
