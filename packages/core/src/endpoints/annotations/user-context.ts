import { onOff } from '../comment/parse-values.ts';
import { fromComment } from '../comment/resolve-values.ts';
import {
  type MemberAnnotation,
  memberAnnotation,
  type ValueAnnotation,
  valueAnnotation,
} from '../comment/value-annotation.ts';
import { fromOptions } from '../origin.ts';

export const userContext: MemberAnnotation<'userContext', boolean> = memberAnnotation({
  key: 'userContext',
  names: ['user_context'],
  syntax: ['user_context', 'user_context = <on/off>'],
  documentation:
    'Passes the identity of the caller to the call as session settings: `request.user_id`, `request.user_name`, `request.user_roles`, `request.ip_address`.',
  isGuard: true,
  parse: onOff(),
  member: 'userContext',
  resolve: (builder) => {
    const written = builder.get(userContext);
    if (written !== null) return fromComment(builder, userContext, written);
    return fromOptions(builder.options, 'useUserContext', ({ authentication }) => authentication.useUserContext);
  },
  explained: { name: 'userContext', show: (endpoint) => String(endpoint.userContext) },
});

export const userParameters: ValueAnnotation<boolean> = valueAnnotation({
  key: 'userParameters',
  names: ['user_parameters', 'user_params'],
  syntax: ['user_parameters', 'user_parameters = <on/off>'],
  documentation:
    'Passes the identity of the caller to the parameters `_user_id`, `_user_name`, `_user_roles`, `_user_claims` and `_ip_address` that the routine has. Requests cannot set them. For anonymous callers they are NULL or have their default.',
  isGuard: true,
  parse: onOff((parsed, { routine }, value) => {
    if (!value || routine.table === undefined) return null;
    return {
      code: 'not-a-routine',
      message: `${parsed.name} applies to routines only; use user_context for tables and views`,
    };
  }),
});
