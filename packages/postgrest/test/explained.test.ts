import type { EndpointExplanation } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { postgrest } from './support.ts';

test('the dialect is the reason why an endpoint reads its parameters from the request as a whole', async () => {
  const explained: EndpointExplanation[] = [];
  const gateway = await startGateway('create table book (id int primary key, title text)', {
    ...postgrest(),
    endpointsExplained: (explanations) => void explained.push(...explanations),
  });
  await gateway.close();
  const insert = explained.find(({ endpoint }) => endpoint?.method === 'POST')!;
  expect(insert.values.find(({ name }) => name === 'parameterSource')).toEqual({
    name: 'parameterSource',
    value: 'query',
    origin: 'routine',
    line: null,
    reason: 'the dialect postgrest reads the request',
  });
});
