import { switchOf } from '../comment/boolean-values.ts';
import type { Word } from '../comment/annotation.ts';

export const tsclient: Word = {
  names: ['tsclient'],
  syntax: ['tsclient', 'tsclient = <on/off>'],
  documentation: 'Whether the typed client has this endpoint: on by default.',
  guards: false,
  supported: true,
  apply: switchOf('client'),
};
