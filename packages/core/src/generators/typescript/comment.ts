import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { CommentHeader } from '../file.ts';
import { plainLine, plainLines } from '../text.ts';

export interface CommentManner {
  readonly commentHeader: CommentHeader;
  readonly commentHeaderIncludeComments: boolean;
}

export interface Described {
  readonly endpoint: Endpoint;
  /** The members that a caller gives. */
  readonly parameters: readonly { readonly key: string; readonly display: string; readonly optional: boolean }[];
  /** The TypeScript type of the result. */
  readonly result: string;
}

/** The block above a function; empty where none is wanted. */
export function commentBlock({ endpoint, parameters, result }: Described, manner: CommentManner): readonly string[] {
  if (manner.commentHeader === 'none') return [];
  const { id, description, method, path, kind, schema, name, authorization } = endpoint;
  const { required, roles } = authorization;
  const routine = (manner.commentHeader === 'full' ? endpoint.definition : undefined) ?? id;
  const prose = manner.commentHeaderIncludeComments && description !== '' ? ['', ...plainLines(description)] : [];
  const lines = [
    ...plainLines(routine.trim()),
    ...prose,
    ...(required
      ? ['', roles.length === 0 ? 'For signed-in callers.' : `For ${roles.map(plainLine).join(', ')}.`]
      : []),
    '',
    ...parameters.map(({ key, display, optional }) =>
      plainLine(`@param request.${key} - ${display}${optional ? ', may be left out' : ''}`),
    ),
    plainLine(`@returns {${result}}`),
    plainLine(`@remarks ${method} ${path}`),
    plainLine(`@see ${kind.toUpperCase()} ${schema}.${name}`),
  ];
  return ['/**', ...lines.map((line) => ` * ${insideComment(line)}`.trimEnd()), ' */'];
}

/** What would end the comment, or the script around it, does not. */
export function insideComment(line: string): string {
  return line.replaceAll('*/', String.raw`*\/`).replaceAll(/<(?=\/script|!--)/gi, '<\\');
}
