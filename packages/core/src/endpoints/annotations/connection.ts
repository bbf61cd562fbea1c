import { display } from '../diagnostic.ts';
import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from '../comment/annotation.ts';
import { applyBoolean } from '../comment/boolean-values.ts';

/** On another database the routine is another one, or reads other data: a name that nobody knows stops the endpoint. */
function apply(use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null {
  const known = draft.options.connectionNames;
  if (known.includes(use.text)) {
    draft.set(use, 'connection', use.text);
    return null;
  }
  const offer =
    known.length === 0
      ? 'the gateway has no named connections'
      : `the named connections are ${known.map(display).join(', ')}`;
  return { code: 'unknown-connection', message: `no connection is named ${display(use.text)}; ${offer}` };
}

export const connectionName: Annotation = {
  names: ['connection_name', 'connection'],
  syntax: ['connection_name <name>', 'connection_name = <name>'],
  documentation: 'The named connection that runs the routine, such as one to a replica that only reads.',
  guards: true,
  supported: true,
  apply,
};

export const connectionReset: Annotation = {
  names: ['connection_reset'],
  syntax: ['connection_reset', 'connection_reset = <on/off>'],
  documentation:
    'Whether the connection is reset after each call (`DISCARD ALL`), so that nothing that the routine leaves in its session reaches another caller. Without this word the gateway decides by the text of the routine and of what it uses; a routine whose text does not tell, as one in another language, may ask for it. Off is a promise of the author that nothing is left.',
  guards: true,
  supported: true,
  apply: applyBoolean('connectionReset'),
};
