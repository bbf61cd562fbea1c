import type { EndpointBuilder } from '../endpoint-builder.ts';
import { onOff } from '../comment/parse-values.ts';
import { fromComment, orOption } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation } from '../comment/value-annotation.ts';
import type { Resolved } from '../origin.ts';
import { cached } from './cache.ts';
import { loginOrLogout } from './login.ts';

/** Cached responses keep no status, and those of a login have their own. */
export function resolveResponseSettings(builder: EndpointBuilder): Resolved<boolean> {
  const own = orOption(builder, responseSettings, 'responseSettings');
  const other = builder.isSet(cached) ? cached : loginOrLogout;
  if (!own.value || !builder.isSet(other)) return own;
  const name = builder.annotationFor(other)!.name;
  return fromComment(builder, other, false, `not with ${name}`);
}

/** Reports a line that has no effect. */
function check(builder: EndpointBuilder): void {
  const other = builder.isSet(cached) ? 'cached' : builder.get(loginOrLogout);
  if (other === null || builder.get(responseSettings) !== true) return;
  const message = `response_settings does not apply to an endpoint with ${other}; remove one of the lines`;
  builder.reportAt(responseSettings, 'contradiction', message);
}

export const responseSettings: MemberAnnotation<'responseSettings', boolean> = memberAnnotation({
  key: 'responseSettings',
  names: ['response_settings'],
  syntax: ['response_settings', 'response_settings = <on/off>'],
  documentation:
    'Takes status and headers of the response from the settings `response.status` and `response.headers`, which the routine makes for its transaction. The whole response is buffered.',
  isGuard: false,
  parse: onOff(),
  member: 'responseSettings',
  resolve: (builder) => {
    check(builder);
    return resolveResponseSettings(builder);
  },
  explained: { name: 'responseSettings', show: (endpoint) => String(endpoint.responseSettings) },
});
