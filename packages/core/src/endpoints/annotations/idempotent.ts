import { oneOf } from '../comment/parse-values.ts';
import { orDefault } from '../comment/resolve-values.ts';
import { type MemberAnnotation, memberAnnotation } from '../comment/value-annotation.ts';

type Mode = 'optional' | 'required';

const parseMode = oneOf<Mode>(['optional', 'required'], 'optional or required');

export const idempotent: MemberAnnotation<'idempotency', Mode> = memberAnnotation({
  key: 'idempotency',
  names: ['idempotent'],
  syntax: ['idempotent', 'idempotent optional | required'],
  documentation:
    'Accepts the header `Idempotency-Key`: requests with the same key run once, and get the same response ([guide](../guide/idempotency.md)). `required`: a request without a key gets a 400. Needs the table that `pgway install idempotency` creates.',
  isGuard: true,
  // A sentence may begin with the word.
  matches: (args) => args.length <= 1,
  parse: (parsed, builder) => (parsed.text === '' ? { value: 'optional' } : parseMode(parsed, builder)),
  member: 'idempotency',
  resolve: (builder) => orDefault(builder, idempotent, undefined, 'no idempotent line'),
  explained: { name: 'idempotency', show: ({ idempotency }) => idempotency ?? 'none' },
});
