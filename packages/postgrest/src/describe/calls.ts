/** Calls of functions. */
import type { Endpoint, EndpointParameter } from '@pgway/core';
import type { DescribedContent, DescribedMember, DescribedOperation, DescribedValue } from '@pgway/core/internal';
import { type FunctionTarget, resultTypeOf } from '../rpc/function-target.ts';
import {
  filterGrammar,
  filterParameters,
  pageParameters,
  preferHeader,
  schemaHeader,
  selectParameter,
} from './parameters.ts';
import { errorResponses, rowsContent } from './responses.ts';
import { list, selectedRow, text, typed } from './values.ts';

/** Returns the description of a call. */
export function describeCall(endpoint: Endpoint, target: FunctionTarget): DescribedOperation {
  const own = { ...target, endpoint };
  const name = `${target.schema}.${target.name}`;
  const given = endpoint.parameters.filter(
    ({ injectedValue, hashOf, position }) =>
      injectedValue === undefined && (hashOf === undefined || hashOf === position),
  );
  const isRead = endpoint.method === 'GET';
  const hasRows = target.columns.size > 0;
  const members = given.map(argument);
  const taken = new Set(given.map((parameter) => parameter.name));
  const ofRows = hasRows ? [selectParameter(own), ...filterParameters(own), ...pageParameters(own)] : [];
  return {
    action: 'call',
    summary: `Calls ${name}`,
    description: [
      ...(isRead ? ['The arguments are in the query string, and the transaction is read-only.'] : []),
      ...(hasRows ? [`The rows can be filtered. ${filterGrammar}`] : []),
    ].join(' '),
    parameters: [
      ...(isRead
        ? members.map((member) => ({ ...member, in: 'query' as const, value: queryValue(member.value) }))
        : []),
      ...ofRows.filter((parameter) => !isRead || !taken.has(parameter.name)),
      schemaHeader(own),
      preferHeader([
        ...(hasRows ? ['count=exact counts all rows'] : []),
        'timezone=<name> for values with a time zone',
        'handling=strict refuses unknown preferences',
      ]),
    ],
    body: isRead || given.length === 0 ? null : bodyOf(given, members),
    responses: [...success(endpoint, own), ...errorResponses(isRead ? ['405'] : [])],
    // The endpoint that the function has without the dialect is its tool.
    tool: null,
  };
}

/** An argument without a name is the whole body. */
function argument({ name, type, optional, defaultExpression }: EndpointParameter): DescribedMember {
  const byDefault = defaultExpression === undefined ? '' : `, default ${defaultExpression}`;
  return { name, description: `${type.display}${byDefault}`, required: !optional, value: typed(type, true) };
}

/** Lists, rows and JSON are text in a query string. */
function queryValue(value: DescribedValue): DescribedValue {
  if (value.kind !== 'type') return value;
  return value.type.json === 'converted' || value.type.json === 'json' ? text : { ...value, nullable: false };
}

function bodyOf(given: readonly EndpointParameter[], members: readonly DescribedMember[]): DescribedOperation['body'] {
  const [first, ...others] = given;
  if (first?.unnamed === true && others.length === 0) {
    return { required: !first.optional, content: wholeBody(first) };
  }
  const body: DescribedValue = { kind: 'object', members };
  return {
    required: members.some(({ required }) => required),
    content: { 'application/json': body, 'application/x-www-form-urlencoded': body },
  };
}

function wholeBody({ type }: EndpointParameter): DescribedContent {
  switch (type.builtin) {
    case 'text':
      return { 'text/plain': text };
    case 'xml':
      return { 'text/xml': text };
    case 'bytea':
      return { 'application/octet-stream': { kind: 'any' } };
    default:
      return { 'application/json': { kind: 'any' } };
  }
}

function success(endpoint: Endpoint, target: FunctionTarget): DescribedOperation['responses'] {
  const { result, media, isOne } = target;
  if (result === 'nothing') return [{ status: '204', description: 'Done', headers: [], content: {} }];
  const content = ((): DescribedContent => {
    if (media !== null) return { [media]: text };
    if (result === 'rows' && !isOne) return rowsContent(target);
    return { 'application/json': resultValue(endpoint, target) };
  })();
  return [{ status: '200', description: 'The result', headers: [], content }];
}

function resultValue(endpoint: Endpoint, target: FunctionTarget): DescribedValue {
  const type = resultTypeOf(endpoint);
  const value: DescribedValue = type === null ? { kind: 'any' } : typed(type, true);
  switch (target.result) {
    case 'values':
      return list(value);
    case 'row':
      return selectedRow(target);
    case 'rows':
      return target.isOne ? selectedRow(target) : list(selectedRow(target));
    default:
      return value;
  }
}
