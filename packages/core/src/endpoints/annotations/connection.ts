import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Annotation } from '../comment/annotation.ts';
import type { AnnotationError, ParsedAnnotation } from '../comment/parsed-annotation.ts';
import { applyBoolean } from '../comment/boolean-values.ts';

/** An unknown connection is an error: on another database the routine may not exist, or may read other data. */
function apply(parsed: ParsedAnnotation, builder: EndpointBuilder): AnnotationError | null {
  const known = builder.options.connectionNames;
  if (known.includes(parsed.text)) {
    builder.set(parsed, 'connection', parsed.text);
    return null;
  }
  const offer =
    known.length === 0
      ? 'the gateway has no named connections; configure one'
      : `the named connections are ${known.map(display).join(', ')}`;
  return { code: 'unknown-connection', message: `no connection is named ${display(parsed.text)}; ${offer}` };
}

export const connectionName: Annotation = {
  names: ['connection_name', 'connection'],
  syntax: ['connection_name <name>', 'connection_name = <name>'],
  documentation: 'The named connection that runs the routine, for example a read replica.',
  isGuard: true,
  apply,
};

export const connectionReset: Annotation = {
  names: ['connection_reset'],
  syntax: ['connection_reset', 'connection_reset = <on/off>'],
  documentation:
    'Whether the connection is reset (`DISCARD ALL`) after each call, so that session state of the routine cannot reach another caller. By default the gateway decides from the source of the routine and of the routines that it calls. Switch it on for routines whose source the gateway cannot analyze, such as those in C. Switch it off only when the routine leaves no session state.',
  isGuard: true,
  apply: applyBoolean('connectionReset'),
};
