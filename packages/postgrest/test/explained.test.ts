import type { EndpointExplanation } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { postgrest } from './support.ts';

test('the dialect is the reason why an endpoint reads its parameters from the request as a whole', async () => {
  const explained: EndpointExplanation[] = [];
  const sql = `create table book (id int primary key, title text); comment on table book is E'path /x\\nrequest_param_type body';`;
  const gateway = await startGateway(sql, {
    ...postgrest(),
    fieldErrors: true,
    endpointsExplained: (explanations) => void explained.push(...explanations),
  });
  await gateway.close();
  const insert = explained.find(({ endpoint }) => endpoint?.method === 'POST')!;
  const names = ['method', 'path', 'parameterSource', 'fieldErrors'];
  expect(insert.values.filter(({ name }) => names.includes(name))).toEqual([
    { name: 'method', value: 'POST', origin: 'routine', line: null, reason: 'the operation insertReturning' },
    { name: 'path', value: '/rest/book', origin: 'routine', line: null, reason: 'the route of its source' },
    {
      name: 'parameterSource',
      value: 'query',
      origin: 'routine',
      line: null,
      reason: 'the dialect postgrest reads the request',
    },
    {
      name: 'fieldErrors',
      value: 'false',
      origin: 'routine',
      line: null,
      reason: 'the dialect postgrest has its own errors',
    },
  ]);
});
