import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { readSwitch } from '../comment/parse-values.ts';
import { fromComment } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation, type ParsedValue } from '../comment/value-annotation.ts';
import { fromDefault, fromOptions, type Resolved } from '../origin.ts';
import { loginOrLogout } from './login.ts';

/** Fails closed: any argument other than a false value masks the parameters. */
function parse(parsed: ParsedAnnotation): ParsedValue<boolean> {
  const value = readSwitch(parsed);
  if (value !== null) return { value };
  const message = `${parsed.name} masks all parameters; ${display(parsed.text)} is ignored`;
  return {
    value: true,
    problem: { code: 'extra-arguments', severity: 'warning', message, unusedArguments: parsed.args },
  };
}

/** The parameters of a login and of a hash contain passwords. */
function resolve(builder: EndpointBuilder): Resolved<boolean> {
  const written = builder.get(securitySensitive);
  if (written !== null) return fromComment(builder, securitySensitive, written);
  if (!builder.isSet(loginOrLogout) && builder.hashes.length === 0)
    return fromDefault(false, 'no security_sensitive line');
  return fromOptions(
    builder.options,
    'obfuscateAuthParameterLogValues',
    ({ authentication }) => authentication.obfuscateAuthParameterLogValues,
  );
}

export const securitySensitive: MemberAnnotation<'sensitive', boolean> = memberAnnotation({
  key: 'sensitive',
  names: ['security_sensitive', 'sensitive', 'security'],
  syntax: ['security_sensitive', 'security_sensitive = <on/off>'],
  documentation: 'Masks the values of all parameters in logs.',
  isGuard: true,
  parse,
  member: 'sensitive',
  resolve,
});
