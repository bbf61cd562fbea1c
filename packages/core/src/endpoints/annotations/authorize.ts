import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import type { Setting } from '../comment/setting.ts';

/** Whether callers must be signed in, and the roles of which they need one. */
export interface AccessRules {
  readonly required: boolean;
  readonly roles: readonly string[];
  /** The tag scope of the line. Contradictory lines have the same one. */
  readonly scope: number;
}

/** The authorization that a comment sets. */
export const access: Setting<AccessRules> = {
  key: 'access',
  effect: ({ required, roles }) => {
    if (!required) return 'allows anonymous callers';
    return roles.length === 0 ? 'requires a signed-in caller' : `requires one of the roles ${roles.join(', ')}`;
  },
};

/**
 * Accumulates: roles of several lines are all accepted, and a line without roles removes none. Together with
 * `allow_anonymous` in the same tag scope it is a contradiction; in a later scope the later line wins.
 */
function applyAuthorize(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const written = parsed.form === 'assignment' ? parseBoolean(parsed.text) : null;
  if (written === false) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} = ${display(parsed.text)} is ambiguous; write allow_anonymous to allow anonymous callers`,
    };
  }
  const { number } = builder.scope;
  const rules = builder.get(access);
  if (rules?.required === false && rules.scope === number) {
    return {
      code: 'contradiction',
      message: `${parsed.name} and allow_anonymous contradict each other; keep one of them`,
    };
  }
  // `authorize = true` requires a signed-in caller, not a role named `true`.
  const roles = (written === true ? [] : parsed.args).reduce(addRole, rules?.roles ?? []);
  builder.set(parsed, access, { required: true, roles, scope: number });
  return null;
}

/** Adds a role unless it is listed already. Roles are compared case-insensitively. */
function addRole(roles: readonly string[], role: string): readonly string[] {
  return roles.some((known) => known.toLowerCase() === role.toLowerCase()) ? roles : [...roles, role];
}

export const authorize: Annotation = {
  names: ['authorize', 'authorized', 'requires_authorization'],
  syntax: ['authorize', 'authorize <role> …', 'authorize = <role>, …'],
  documentation:
    'The caller must be signed in and, when roles are listed, have one of them. Roles are case-insensitive. Several lines add up.',
  isGuard: true,
  apply: applyAuthorize,
};

/** Takes no argument, because `Anonymous users cannot …` is a sentence and must not open the endpoint. */
function applyAllowAnonymous(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const plain = parsed.text === '' || (parsed.form === 'assignment' && parseBoolean(parsed.text) === true);
  if (!plain) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} takes no argument, but has ${display(parsed.text)}; remove it, or begin the line with another word if it is prose`,
    };
  }
  const { number } = builder.scope;
  const rules = builder.get(access);
  if (rules?.required === true && rules.scope === number) {
    return { code: 'contradiction', message: `${parsed.name} and authorize contradict each other; keep one of them` };
  }
  builder.set(parsed, access, { required: false, roles: [], scope: number });
  return null;
}

export const allowAnonymous: Annotation = {
  names: ['allow_anonymous', 'anonymous', 'allow_anon', 'anon'],
  syntax: ['allow_anonymous'],
  documentation: 'Allows anonymous callers, even when the gateway requires authorization by default.',
  isGuard: true,
  apply: applyAllowAnonymous,
};
