import { access } from './annotations/authorize.ts';
import { findBasicAuthentication } from './annotations/basic-authentication.ts';
import { loginOrLogout } from './annotations/login.ts';
import { fromComment } from './comment/resolve-values.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Endpoint } from './endpoint.ts';
import { fromDefault, fromOptions, type Resolved, withValue } from './origin.ts';

type Authorization = Endpoint['authorization'];

/** Shared by the endpoints without roles. */
const anyone: Authorization = Object.freeze({ required: false, roles: Object.freeze([]) });
const signedIn: Authorization = Object.freeze({ required: true, roles: Object.freeze([]) });

/** Returns who may call the endpoint. A login needs no authorization, and `allow_anonymous` overrides the option. */
export function resolveAuthorization(builder: EndpointBuilder): Resolved<Authorization> {
  if (builder.get(loginOrLogout) === 'login')
    return fromComment(builder, loginOrLogout, anyone, 'a login needs no authorization');
  const rules = builder.get(access);
  if (rules !== null) {
    const { required, roles } = rules;
    return fromComment(builder, access, roles.length > 0 ? { required, roles } : required ? signedIn : anyone);
  }
  const preset = fromOptions(
    builder.options,
    'requiresAuthorization',
    ({ requiresAuthorization }) => requiresAuthorization,
  );
  const authorization = preset.value ? signedIn : anyone;
  const basic = findBasicAuthentication(builder);
  if (basic !== null) return fromComment(builder, basic, authorization);
  return preset.origin === 'default'
    ? fromDefault(authorization, 'no authorize line')
    : withValue(preset, authorization);
}
