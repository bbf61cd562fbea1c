import type { EndpointBuilder } from '../endpoint-builder.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Resolved } from '../origin.ts';
import type { Annotation } from './annotation.ts';
import type { AnnotationError, ParsedAnnotation } from './parsed-annotation.ts';
import type { Setting } from './setting.ts';

/** An annotation that sets one value, whose key it is. */
export interface ValueAnnotation<in out Value> extends Annotation, Setting<Value> {}

/** The value of a line, with a problem of a line that has an effect all the same. A value of null removes that of another line. */
export interface ParsedValue<Value> {
  readonly value: Value | null;
  readonly problem?: AnnotationError | null;
}

/** Returns the value of a line, or the reason why it has none. */
export type ParseValue<Value> = (
  parsed: ParsedAnnotation,
  builder: EndpointBuilder,
) => ParsedValue<Value> | AnnotationError;

type ValueDefinition<Value> = Omit<ValueAnnotation<Value>, 'apply'> & { readonly parse: ParseValue<Value> };

export function valueAnnotation<Value>({ parse, ...language }: ValueDefinition<Value>): ValueAnnotation<Value> {
  const annotation: ValueAnnotation<Value> = {
    ...language,
    apply: (parsed, builder) => setValue(builder, annotation, { parsed, result: parse(parsed, builder) }),
  };
  return annotation;
}

function setValue<Value>(
  builder: EndpointBuilder,
  setting: Setting<Value>,
  { parsed, result }: { readonly parsed: ParsedAnnotation; readonly result: ReturnType<ParseValue<Value>> },
): AnnotationError | null {
  if ('code' in result) return result;
  builder.set(parsed, setting, result.value);
  return result.problem ?? null;
}

/** The members of an endpoint that depend on each other, or do not come from the comment. `build-endpoints.ts` resolves them. */
export type ComposedMember =
  | 'id'
  | 'source'
  | 'kind'
  | 'schema'
  | 'name'
  | 'method'
  | 'path'
  | 'parameterSource'
  | 'parameters'
  | 'rejectsUnknownKeys'
  | 'outputs'
  | 'outputConversion'
  | 'table'
  | 'dialect'
  | 'constraintMessages'
  | 'result'
  | 'responseHeaders'
  | 'authorization'
  | 'loginOrLogout'
  | 'events'
  | 'changes'
  | 'documents'
  | 'tags'
  | 'upload'
  | 'cache'
  | 'invalidates'
  | 'raw'
  | 'requestHeaders'
  | 'bodyParameter'
  | 'description'
  | 'volatility'
  | 'definition'
  | 'isReadThroughout'
  // Later steps of the load add these.
  | 'sessionEffects'
  | 'citus';

/** A member of an endpoint that its annotation resolves. A new member is one. */
export type SimpleMember = Exclude<keyof Endpoint, ComposedMember>;

/** How a member of an endpoint is resolved and explained. */
export interface MemberResolver<Member extends SimpleMember> {
  readonly member: Member;
  /** Returns the value for requests. Undefined: the endpoint does not have the member, which saves memory. */
  readonly resolve: (builder: EndpointBuilder) => Resolved<Endpoint[Member]>;
  /** The name and the text in explanations. Absent: not explained. */
  readonly explained?: ExplainedText;
}

export interface ExplainedText {
  readonly name: string;
  readonly show: (endpoint: Endpoint) => string;
}

/** An annotation whose value, or else an option or default, is a member of endpoints. */
export interface MemberAnnotation<Member extends SimpleMember, in out Value>
  extends ValueAnnotation<Value>, MemberResolver<Member> {}

export function memberAnnotation<Member extends SimpleMember, Value>({
  parse,
  ...rest
}: ValueDefinition<Value> & MemberResolver<Member>): MemberAnnotation<Member, Value> {
  const annotation: MemberAnnotation<Member, Value> = {
    ...rest,
    apply: (parsed, builder) => setValue(builder, annotation, { parsed, result: parse(parsed, builder) }),
  };
  return annotation;
}
