import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import { parseBoolean } from '../comment/lexer.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import type { Setting } from '../comment/setting.ts';

export const loginOrLogout: Setting<'login' | 'logout'> = { key: 'loginOrLogout' };

/** The name of the parameter that identifies the user of a login. */
export const loginUser: Setting<string> = { key: 'loginUser' };

function applyLoginOrLogout(kind: 'login' | 'logout'): Annotation['apply'] {
  return (parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null => {
    const other = builder.get(loginOrLogout);
    if (other !== null && other !== kind) {
      return {
        code: 'contradiction',
        message: `${parsed.name} and ${other} contradict each other; keep one of them`,
      };
    }
    if (builder.routine.table !== undefined) {
      return { code: 'not-a-routine', message: `${parsed.name} applies to routines only; remove the line` };
    }
    if (parsed.form === 'assignment') {
      const value = parseBoolean(parsed.text);
      if (value !== null) {
        builder.set(parsed, loginOrLogout, value ? kind : null);
        return null;
      }
    }
    builder.set(parsed, loginOrLogout, kind);
    if (kind === 'login' && parsed.args[0]?.toLowerCase() === 'user') return setUser(parsed, builder);
    if (parsed.args.length === 0) return null;
    const form =
      kind === 'login'
        ? `${parsed.name} takes no argument except user <parameter>`
        : `${parsed.name} takes no argument`;
    return {
      code: 'extra-arguments',
      message: `${form}, but has ${display(parsed.text)}; remove it`,
      unusedArguments: parsed.args,
    };
  };
}

/** Reads `login user _email`. */
function setUser(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const [, user, ...leftover] = parsed.args;
  if (user === undefined) {
    return {
      code: 'bad-argument',
      message: `${parsed.name} user needs the name of the parameter that identifies the user`,
    };
  }
  builder.set(parsed, loginUser, user);
  if (leftover.length === 0) return null;
  return {
    code: 'extra-arguments',
    message: `${parsed.name} user takes one parameter only`,
    unusedArguments: leftover,
  };
}

export const login: Annotation = {
  names: ['login', 'signin'],
  syntax: ['login', 'login user <parameter>'],
  documentation:
    'The routine logs its caller in. The default method is POST. The columns `status`, `message`, `scheme` and `hash` of its row control the login; all other columns become claims. Without a row, the response is 401. With a `hash` column, it is 404 with an empty body for no row and for a wrong password, or the status of the option `passwordVerificationFailedStatus`. A status of false is answered with 401, a number other than 200 with that status. The login rate limit counts failed logins by the parameter that identifies the user: the only one whose name contains `user`, `name`, `email` or `login`, or the one that `login user` names.',
  isGuard: true,
  apply: applyLoginOrLogout('login'),
};

export const logout: Annotation = {
  names: ['logout', 'signout'],
  syntax: ['logout'],
  documentation:
    'The routine logs its caller out of the schemes that it returns, or of the scheme that authenticated the caller. The default method is POST.',
  isGuard: true,
  apply: applyLoginOrLogout('logout'),
};
