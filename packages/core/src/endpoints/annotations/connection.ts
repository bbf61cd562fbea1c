import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { onOffOrProse } from '../comment/parse-values.ts';
import { orDefault } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation, type ParsedValue } from '../comment/value-annotation.ts';

/** An unknown connection is an error: on another database the routine may not exist, or may read other data. */
function parse({ text }: ParsedAnnotation, { options }: EndpointBuilder): ParsedValue<string> | AnnotationError {
  const known = options.connectionNames;
  if (known.includes(text)) return { value: text };
  const offer =
    known.length === 0
      ? 'the gateway has no named connections; configure one'
      : `the named connections are ${known.map(display).join(', ')}`;
  return { code: 'unknown-connection', message: `no connection is named ${display(text)}; ${offer}` };
}

export const connectionName: MemberAnnotation<'connection', string> = memberAnnotation({
  key: 'connection',
  names: ['connection_name', 'connection'],
  syntax: ['connection_name <name>', 'connection_name = <name>'],
  documentation: 'The named connection that runs the routine, for example a read replica.',
  isGuard: true,
  parse,
  member: 'connection',
  resolve: (builder) => orDefault(builder, connectionName, null, 'no connection_name line'),
});

export const connectionReset: MemberAnnotation<'connectionReset', boolean> = memberAnnotation({
  key: 'connectionReset',
  names: ['connection_reset'],
  syntax: ['connection_reset', 'connection_reset = <on/off>'],
  documentation:
    'Whether the connection is reset (`DISCARD ALL`) after each call, so that session state of the routine cannot reach another caller. By default the gateway decides from the source of the routine and of the routines that it calls. Switch it on for routines whose source the gateway cannot analyze, such as those in C. Switch it off only when the routine leaves no session state.',
  isGuard: true,
  parse: onOffOrProse,
  member: 'connectionReset',
  resolve: (builder) => orDefault(builder, connectionReset, undefined, 'no connection_reset line'),
});
