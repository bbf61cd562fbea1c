import { type GatewayOptions, StartError } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

/** What a host says that cannot be meant so is told at start, not by the first request that meets it. */
test.each<[options: Partial<GatewayOptions>, told: string]>([
  ...[0, 101, 600, 404.5, '404' as never].map((status): [Partial<GatewayOptions>, string] => [
    { postgreSqlErrorCodeToHttpStatusCodeMapping: { P0001: status } },
    `postgreSqlErrorCodeToHttpStatusCodeMapping: "P0001" cannot be answered with ${JSON.stringify(status)}: give a status from 200 to 599`,
  ]),
  [
    { postgreSqlErrorCodeToHttpStatusCodeMapping: { unique_violation: 409 } },
    'postgreSqlErrorCodeToHttpStatusCodeMapping: "unique_violation" is neither an SQLSTATE of five characters nor a class of two',
  ],
  [
    { requestHeadersContextKey: 'role' },
    'requestHeadersContextKey: "role" is no setting; give two names and a dot, as in app.user',
  ],
])('%o', async (options, told) => {
  await expect(startGateway('', options)).rejects.toThrow(new StartError(told));
});
