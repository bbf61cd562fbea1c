import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { camelCase, kebabPath } from './naming.ts';

describe('kebabPath', () => {
  test.each([
    ['public', 'hello_world', '/api', '/api/hello-world'],
    ['my_schema', 'hello_world', '/api', '/api/my-schema/hello-world'],
    ['public', 'select', '/api', '/api/select'],
    ['Public', 'Get It', '/api', '/api/public/get-it'],
    ['public', 'say_"hi"', '/api', '/api/say-hi'],
    ['public', '_f__x', '/api', '/api/-f--x'],
    ['public', 'f', '', '/f'],
    ['public', 'f', 'v1/', '/v1/f'],
    ['public', 'f', '/', '/f'],
  ])('%s.%s under %j is %s', (schema, name, prefix, path) => {
    expect(kebabPath({ schema, name }, prefix)).toBe(path);
  });
});

describe('camelCase', () => {
  test.each([
    ['_p1', 'p1'],
    ['_smallint_array', 'smallintArray'],
    ['UserID', 'userID'],
    ['user__id_', 'userId'],
    ['p_URL_x', 'pURLX'],
    ['Äpfel_über', 'äpfelÜber'],
    ['a-b c', 'a-b c'],
    ['CUSTOMER_ID', 'customerId'],
    ['ID', 'id'],
    ['_P_1', 'p1'],
    ['ÄPFEL_ÜBER', 'äpfelÜber'],
    ['customerID', 'customerID'],
    ['Customer_ID', 'customerID'],
    ['$1', '$1'],
    ['0_A', '0A'],
    ['__', '__'],
  ])('%s becomes %s', (name, key) => {
    expect(camelCase(name)).toBe(key);
  });

  test('changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-zA-Z_0-9]{1,30}$/), (name) => {
        expect(camelCase(camelCase(name))).toBe(camelCase(name));
      }),
    );
  });
});
