import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';

/**
 * Accumulates: roles of several lines are all accepted, and a line without roles removes none. Together with
 * `allow_anonymous` in the same tag scope it is a contradiction; in a later scope the later line wins.
 */
function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const { access, scope } = builder;
  const written = parsed.form === 'assignment' ? parseBoolean(parsed.text) : null;
  if (written === false) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} = ${display(parsed.text)} is ambiguous; write allow_anonymous to allow anonymous callers`,
    };
  }
  if (access.anonymousIn === scope.number) {
    return {
      code: 'contradiction',
      message: `${parsed.name} and allow_anonymous contradict each other; keep one of them`,
    };
  }
  access.required = true;
  access.authorizedIn = scope.number;
  access.anonymousIn = null;
  // `authorize = true` requires a signed-in caller, not a role named `true`.
  for (const role of written === true ? [] : parsed.args) addRole(access.roles, role);
  builder.logEffect(
    parsed,
    access.roles.length === 0 ? 'requires a signed-in caller' : `requires one of the roles ${access.roles.join(', ')}`,
  );
  return null;
}

/** Adds a role unless it is listed already. Roles are compared case-insensitively. */
function addRole(roles: string[], role: string): void {
  if (!roles.some((known) => known.toLowerCase() === role.toLowerCase())) roles.push(role);
}

export const authorize: Annotation = {
  names: ['authorize', 'authorized', 'requires_authorization'],
  syntax: ['authorize', 'authorize <role> …', 'authorize = <role>, …'],
  documentation:
    'The caller must be signed in and, when roles are listed, have one of them. Roles are case-insensitive. Several lines add up.',
  isGuard: true,
  apply,
};
