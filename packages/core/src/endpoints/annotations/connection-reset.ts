import { switchOf } from '../comment/boolean-values.ts';
import type { Word } from '../comment/annotation.ts';

export const connectionReset: Word = {
  names: ['connection_reset'],
  syntax: ['connection_reset', 'connection_reset = <on/off>'],
  documentation:
    'Whether the connection is reset after each call (`DISCARD ALL`), so that nothing that the routine leaves in its session reaches another caller. Without this word the gateway decides by the text of the routine and of what it uses; a routine whose text does not tell, as one in another language, may ask for it. Off is a promise of the author that nothing is left.',
  guards: true,
  supported: true,
  apply: switchOf('connectionReset'),
};
