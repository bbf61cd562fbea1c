import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/boolean-values.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

/**
 * Lines add up: the roles of several lines are all accepted, and a line without roles takes none away. Next to
 * `allow_anonymous` in the same stretch of lines nobody can say what is meant; in a later `for` stretch the later holds.
 */
function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const { access, scope } = draft;
  const written = use.form === 'assignment' ? parseBoolean(use.text) : null;
  if (written === false) {
    return {
      code: 'bad-argument',
      message: `${use.name} = ${display(use.text)} says two things; write allow_anonymous to open the endpoint to everybody`,
    };
  }
  if (access.anonymousIn === scope.number) {
    return {
      code: 'contradiction',
      message: `${use.name} and allow_anonymous contradict each other; keep one of them`,
    };
  }
  access.required = true;
  access.authorizedIn = scope.number;
  access.anonymousIn = null;
  // `authorize = true` asks for a signed-in caller, not for one with a role of that name.
  for (const role of written === true ? [] : use.words) addRole(access.roles, role);
  draft.note(
    use,
    access.roles.length === 0 ? 'asks for a signed-in caller' : `asks for one of ${access.roles.join(', ')}`,
  );
  return null;
}

/** Roles compare without case. */
function addRole(roles: string[], role: string): void {
  if (!roles.some((known) => known.toLowerCase() === role.toLowerCase())) roles.push(role);
}

export const authorize: Annotation = {
  names: ['authorize', 'authorized', 'requires_authorization'],
  syntax: ['authorize', 'authorize <role> …', 'authorize = <role>, …'],
  documentation:
    'The caller must be signed in and, when roles are named, hold one of them. Roles compare without case; several lines add up.',
  guards: true,
  supported: true,
  apply,
};
