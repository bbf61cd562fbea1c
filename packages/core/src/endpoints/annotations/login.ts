import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/boolean-values.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';

function signs(which: 'login' | 'logout'): Annotation['apply'] {
  return (use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null => {
    if (draft.settings.signIn !== null && draft.settings.signIn !== which) {
      return {
        code: 'contradiction',
        message: `${use.name} and ${draft.settings.signIn} contradict each other; keep one of them`,
      };
    }
    if (draft.routine.table !== undefined) {
      return { code: 'not-a-routine', message: `${use.name} is for functions: a table signs nobody in or out` };
    }
    if (use.form === 'assignment') {
      const value = parseBoolean(use.text);
      if (value !== null) {
        draft.set(use, 'signIn', value ? which : null);
        return null;
      }
    }
    draft.set(use, 'signIn', which);
    if (which === 'login' && use.words[0]?.toLowerCase() === 'user') return setUser(use, draft);
    if (use.words.length === 0) return null;
    return { code: 'extra-arguments', message: `${use.name} takes nothing behind it`, leftover: use.words };
  };
}

/** `login user _email`. */
function setUser(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const [, user, ...leftover] = use.words;
  if (user === undefined) {
    return { code: 'bad-argument', message: `${use.name} user needs the name of the parameter that names the user` };
  }
  draft.set(use, 'loginUser', user);
  if (leftover.length === 0) return null;
  return { code: 'extra-arguments', message: `${use.name} user takes one parameter, and nothing more`, leftover };
}

export const login: Annotation = {
  names: ['login', 'signin'],
  syntax: ['login', 'login user <parameter>'],
  documentation:
    'The routine signs its caller in, by POST unless the comment names another method: its row tells who that is. Columns `status`, `message`, `scheme` and `hash` steer the sign-in, all others become claims. No row is 401, or 404 with an empty body where the row has a `hash`, as a wrong password is; a status that is not success is 401, or that status. Failed sign-ins are counted by the parameter that names the user: the only one whose name contains `user`, `name`, `email` or `login`, or the one behind `login user`.',
  guards: true,
  supported: true,
  apply: signs('login'),
};

export const logout: Annotation = {
  names: ['logout', 'signout'],
  syntax: ['logout'],
  documentation:
    'The routine signs its caller out, by POST unless the comment names another method: of the schemes that its values name, or of the default one.',
  guards: true,
  supported: true,
  apply: signs('logout'),
};
