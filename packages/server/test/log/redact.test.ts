import { expect, test } from 'vitest';
import { redact, redactText } from '../../src/log/redact.ts';

const many = 10_000_000;

test.each([
  ['postgres://u:geheim@h/d', 'postgres://u:***@h/d'],
  ['postgres://:geheim@h and x_9postgres://u:ge@heim@h', 'postgres://:***@h and x_9postgres://u:***@h'],
  [`${'a'.repeat(30)}://u:geheim@h`, `${'a'.repeat(30)}://u:***@h`],
  [`postgres://u:${'geheim'.repeat(500)}@h`, 'postgres://u:***@h'],
  ['Host=h;Password=geheim;Port=1', 'Host=h;Password=***;Port=1'],
  [`host=h password = 'ge heim' sslpassword=geheim pwd="ge heim`, 'host=h password=*** sslpassword=*** pwd=***'],
  ['http://localhost:8080 a@b', 'http://localhost:8080 a@b'],
])('passwords in text: %s', (text, expected) => {
  expect(redactText(text)).toBe(expected);
});

test('secrets are found by key name', () => {
  expect(redact({ userPassword: 'geheim', list: [{ apiKey: 1 }], plain: 1 })).toEqual({
    userPassword: '***',
    list: [{ apiKey: '***' }],
    plain: 1,
  });
});

test('text up to 4096 characters is unchanged; longer text is truncated with a mark', () => {
  const whole = 'a'.repeat(4096);

  expect(redactText(whole)).toBe(whole);
  expect(redact({ list: [`${whole}b`] })).toEqual({ list: [`${whole}… (truncated, 4097 characters)`] });
});

test.each([
  ['postgres://u:geheim@h', 'postgres://u:***'],
  ['postgres://u:geh@eim@h', 'postgres://u:***'],
  ['password=geheim ', 'password=***'],
  [`password='a geheim' `, 'password=***'],
  [`password="a geheim" `, 'password=***'],
])('no part of a password remains when the truncation splits it: %s', (secret, expected) => {
  const kept = secret.indexOf('im');
  const before = 'x'.repeat(4095 - kept);

  const text = redactText(`${before} ${secret}${'y'.repeat(20)}`);

  expect(text).toBe(`${before} ${expected}… (truncated, ${4096 - kept + secret.length + 20} characters)`);
});

// On these texts of 10 MB, a pattern that can start at every letter or scans to the end would take minutes.
test.each(['a', 'a:', 'a://', '://a:', 'password', 'password ', 'password=', `password='`, `password="`, 'pwd = '])(
  'a long text takes no more time than its first 4096 characters: %j',
  (part) => {
    const text = part.repeat(many / part.length);
    expect(redactText(text).length).toBeLessThan(4200);
  },
);
