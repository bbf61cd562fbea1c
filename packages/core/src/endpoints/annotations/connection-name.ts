import { display } from '../display.ts';
import type { Draft } from '../endpoint-builder.ts';
import type { Complaint, Word, WordUse } from '../comment/annotation.ts';

/** On another database the routine is another one, or reads other data: a name that nobody knows stops the endpoint. */
function apply(use: WordUse, draft: Draft): Complaint | null {
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

export const connectionName: Word = {
  names: ['connection_name', 'connection'],
  syntax: ['connection_name <name>', 'connection_name = <name>'],
  documentation: 'The named connection that runs the routine, such as one to a replica that only reads.',
  guards: true,
  supported: true,
  apply,
};
