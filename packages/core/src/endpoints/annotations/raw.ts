import { switchOf } from '../comment/boolean-values.ts';
import type { Word } from '../comment/annotation.ts';

export const raw: Word = {
  names: ['raw', 'raw_mode', 'raw_results'],
  syntax: ['raw', 'raw = <on/off>'],
  documentation:
    "Column values as PostgreSQL's text, one after the other, instead of JSON; NULL is nothing, a boolean `t` or `f`. The content type stays as it is: give one with `Content-Type`.",
  guards: false,
  supported: true,
  apply: switchOf('raw'),
};
